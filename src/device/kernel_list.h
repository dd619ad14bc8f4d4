/* The kernels by name, X(name) each, as kernels/ has them. */
#ifndef PL_KERNEL_LIST_H
#define PL_KERNEL_LIST_H

#define PL_KERNELS(X)                                                                                  \
    X(krylov_begin)                                                                                    \
    X(dots)                                                                                            \
    X(gather_dots) X(subtract) X(krylov_start) X(krylov_turn) X(normalise) X(basis_vector)             \
        X(krylov_end) X(combine) X(add_scaled) X(tell_norm) X(copy) X(set_state) X(clear) X(copy_ints) \
            X(fill) X(tetrahedra) X(triangles) X(residual) X(assemble) X(own_masses) X(guess) X(warm)  \
                X(detect) X(touches) X(solved_touches) X(vertices) X(into_frames) X(out_of_frames)     \
                    X(product) X(settle) X(pulls) X(advance) X(measure) X(measure_energy) X(tell)      \
                        X(scales) X(turn_rows) X(front_assemble) X(front_pivots) X(front_rows)         \
                            X(front_update) X(front_rest) X(solve_in) X(solve_out) X(solve_gather)     \
                                X(solve_down) X(solve_spread) X(solve_up)

#define PL_KERNEL_ID_(name) PL_KERNEL_##name,
typedef enum pl_kernel_id { PL_KERNELS(PL_KERNEL_ID_) PL_KERNEL_COUNT } pl_kernel_id;
#undef PL_KERNEL_ID_

#endif
