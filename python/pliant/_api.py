"""ctypes declarations of Pliant's C interface.

Made from include/pliant/*.h by generate_api.py: change those and run it again.
"""

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure
from ctypes import c_bool, c_char, c_char_p, c_double, c_int, c_size_t, c_uint, c_ulonglong, c_void_p
from typing import Any

PL_VERSION_MAJOR = 0
PL_VERSION_MINOR = 1
PL_VERSION_PATCH = 0
PL_CHECK_STEPS_MAX = 12
PL_POINT_MESSAGE = 256
PL_WORST_COUNT = 5
PL_OK = 0
PL_ERROR_ARGUMENT = 1
PL_ERROR_MEMORY = 2
PL_ERROR_FILE = 3
PL_ERROR_PARSE = 4
PL_ERROR_MESH = 5
PL_ERROR_CONVERGENCE = 6
PL_ERROR_NUMERIC = 7
PL_ERROR_INTERRUPTED = 8
pl_status = c_int
PL_LOG_ERROR = 0
PL_LOG_WARNING = 1
PL_LOG_INFO = 2
PL_LOG_DEBUG = 3
pl_log_level = c_int
pl_log_fn = CFUNCTYPE(None, c_void_p, pl_log_level, c_char_p)
pl_realloc_fn = CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_size_t)


class pl_context(Structure):
    pass




class pl_context_def(Structure):
    pass


pl_context_def._fields_ = [
    ("threads", c_int),
    ("log", pl_log_fn),
    ("log_user", c_void_p),
    ("log_level", pl_log_level),
    ("realloc", pl_realloc_fn),
    ("realloc_user", c_void_p),
]
PL_GROUP_VERTEX = 0
PL_GROUP_TET = 1
PL_GROUP_TRIANGLE = 2
pl_group_kind = c_int


class pl_group(Structure):
    pass


pl_group._fields_ = [
    ("name", POINTER(c_char)),
    ("kind", pl_group_kind),
    ("count", c_int),
    ("index", POINTER(c_int)),
]


class pl_mesh(Structure):
    pass


pl_mesh._fields_ = [
    ("vertex_count", c_int),
    ("vertices", POINTER(c_double)),
    ("tet_count", c_int),
    ("tets", POINTER(c_int)),
    ("triangle_count", c_int),
    ("triangles", POINTER(c_int)),
    ("group_count", c_int),
    ("groups", POINTER(pl_group)),
]
PL_CUT_ALTERNATING = 0
PL_CUT_DIAGONAL = 1
pl_cut = c_int


class pl_mesh_report(Structure):
    pass


pl_mesh_report._fields_ = [
    ("inverted", c_int),
    ("first_inverted", c_int),
    ("degenerate", c_int),
    ("first_degenerate", c_int),
    ("duplicate", c_int),
    ("first_duplicate", c_int),
    ("unreferenced", c_int),
    ("first_unreferenced", c_int),
    ("bad_index", c_int),
    ("first_bad_index", c_int),
    ("non_finite", c_int),
    ("first_non_finite", c_int),
    ("components", c_int),
    ("volume", c_double),
    ("min_dihedral", c_double),
    ("max_dihedral", c_double),
    ("lower", c_double * 3),
    ("upper", c_double * 3),
]


class pl_table(Structure):
    pass


pl_table._fields_ = [
    ("count", c_int),
    ("time", POINTER(c_double)),
    ("value", POINTER(c_double)),
]
PL_ARAP = 0
PL_COROTATED = 1
PL_NEO_HOOKEAN = 2
pl_material = c_int
PL_EXACT = 0
PL_PROJECTIVE = 1
pl_reading = c_int
PL_SOLVER_AUTO = 0
PL_SOLVER_DIRECT = 1
PL_SOLVER_LAGGED = 2
PL_SOLVER_CONSTANT = 3
pl_solver_kind = c_int
PL_EULER = 0
PL_BDF2 = 1
PL_TR_BDF2 = 2
pl_integrator = c_int


class pl_scene(Structure):
    pass




class pl_scene_def(Structure):
    pass


pl_scene_def._fields_ = [
    ("time_step", c_double),
    ("gravity", c_double * 3),
    ("tolerance", c_double),
    ("max_iterations", c_int),
    ("max_splits", c_int),
    ("contact_epsilon2", c_double),
    ("contact_margin", c_double),
    ("body_contact", c_bool),
    ("body_friction", c_double),
    ("solver", pl_solver_kind),
    ("integrator", pl_integrator),
    ("device", c_char_p),
]


class pl_body_def(Structure):
    pass


pl_body_def._fields_ = [
    ("name", c_char_p),
    ("mesh", POINTER(pl_mesh)),
    ("model", pl_material),
    ("reading", pl_reading),
    ("young", c_double),
    ("poisson", c_double),
    ("density", c_double),
    ("thickness", c_double),
    ("bending", c_double),
    ("damping", c_double),
    ("viscosity", c_double),
    ("yeoh2", c_double),
    ("yeoh3", c_double),
    ("young_of", POINTER(c_double)),
    ("poisson_of", POINTER(c_double)),
    ("density_of", POINTER(c_double)),
    ("bending_of", POINTER(c_double)),
    ("damping_of", POINTER(c_double)),
    ("viscosity_of", POINTER(c_double)),
    ("yeoh2_of", POINTER(c_double)),
    ("yeoh3_of", POINTER(c_double)),
    ("velocity", c_double * 3),
    ("angular_velocity", c_double * 3),
    ("positions", POINTER(c_double)),
    ("velocities", POINTER(c_double)),
    ("lumped_equally", c_bool),
    ("mean_volume", c_bool),
    ("self_contact", c_bool),
    ("contact_offset", c_double),
]


class pl_pin_def(Structure):
    pass


pl_pin_def._fields_ = [
    ("body", c_int),
    ("vertex_count", c_int),
    ("vertices", POINTER(c_int)),
    ("compliance", c_double),
    ("offset", pl_table),
    ("rotation", pl_table),
    ("pivot", c_double * 3),
    ("normal", c_double * 3),
]
PL_PER_VERTEX = 0
PL_PER_GROUP = 1
PL_PER_MASS = 2
pl_force_per = c_int


class pl_force_def(Structure):
    pass


pl_force_def._fields_ = [
    ("body", c_int),
    ("vertex_count", c_int),
    ("vertices", POINTER(c_int)),
    ("per", pl_force_per),
    ("value", c_double * 3),
    ("table", pl_table),
]


class pl_wind_def(Structure):
    pass


pl_wind_def._fields_ = [
    ("body", c_int),
    ("drag", c_double),
    ("velocity", c_double * 3),
    ("table", pl_table),
]
PL_HALF_SPACE = 0
PL_SPHERE = 1
PL_BOX = 2
PL_CYLINDER = 3
PL_CAPSULE = 4
PL_MESH = 5
pl_shape = c_int


class pl_collider_def(Structure):
    pass


pl_collider_def._fields_ = [
    ("name", c_char_p),
    ("shape", pl_shape),
    ("size", c_double * 3),
    ("surface", POINTER(pl_mesh)),
    ("friction", c_double),
    ("pose", c_double * 7),
    ("table", pl_table),
]


class pl_point(Structure):
    pass


pl_point._fields_ = [
    ("body", c_int),
    ("count", c_int),
    ("vertices", c_int * 4),
    ("weights", c_double * 4),
    ("position", c_double * 3),
]


class pl_attachment_def(Structure):
    pass


pl_attachment_def._fields_ = [
    ("points", pl_point * 2),
    ("collider", c_int),
    ("compliance", c_double),
]
PL_MUSCLE_TENSION = 0
PL_MUSCLE_SPRING = 1
PL_MUSCLE_FORCE = 2
pl_muscle_law = c_int


class pl_muscle_def(Structure):
    pass


pl_muscle_def._fields_ = [
    ("name", c_char_p),
    ("body", c_int),
    ("element_count", c_int),
    ("elements", POINTER(c_int)),
    ("point_count", c_int),
    ("path", POINTER(c_double)),
    ("path_count", c_int),
    ("path_sizes", POINTER(c_int)),
    ("radius", c_double),
    ("direction_count", c_int),
    ("directions", POINTER(c_double)),
    ("law", pl_muscle_law),
    ("stiffness", c_double),
    ("activation", c_double),
    ("table", pl_table),
]


class pl_cable_def(Structure):
    pass


pl_cable_def._fields_ = [
    ("name", c_char_p),
    ("point_count", c_int),
    ("points", POINTER(pl_point)),
    ("segments", c_bool),
    ("two_way", c_bool),
    ("length", c_double),
    ("table", pl_table),
    ("compliance", c_double),
]


class pl_chamber_def(Structure):
    pass


pl_chamber_def._fields_ = [
    ("name", c_char_p),
    ("body", c_int),
    ("triangle_count", c_int),
    ("triangles", POINTER(c_int)),
    ("inside", POINTER(c_double)),
    ("cavity", c_int),
    ("pressure", c_double),
    ("table", pl_table),
    ("gas", c_bool),
    ("ambient", c_double),
]


class pl_scene_info(Structure):
    pass


pl_scene_info._fields_ = [
    ("body_count", c_int),
    ("vertex_count", c_int),
    ("element_count", c_int),
    ("pin_count", c_int),
    ("pin_vertex_count", c_int),
    ("force_count", c_int),
    ("wind_count", c_int),
    ("collider_count", c_int),
    ("mass", c_double),
]


class pl_body_info(Structure):
    pass


pl_body_info._fields_ = [
    ("name", c_char_p),
    ("mesh", POINTER(pl_mesh)),
    ("vertex_offset", c_int),
    ("vertex_count", c_int),
    ("element_offset", c_int),
    ("element_count", c_int),
    ("cloth", c_bool),
    ("mass", c_double),
]
PL_POSITION = 0
PL_VELOCITY = 1
PL_VERTEX_FORCE = 2
PL_FORCE = 3
PL_WIND = 4
PL_PIN_TARGET = 5
PL_COLLIDER_POSE = 6
PL_ACTIVATION = 7
PL_CABLE_LENGTH = 8
PL_PRESSURE = 9
PL_YOUNG = 10
PL_POISSON = 11
PL_DENSITY = 12
PL_BENDING = 13
PL_DAMPING = 14
PL_FRICTION = 15
PL_COMPLIANCE = 16
PL_ATTACHMENT_COMPLIANCE = 17
PL_MUSCLE_STIFFNESS = 18
PL_CABLE_COMPLIANCE = 19
PL_BODY_FRICTION = 20
PL_VISCOSITY = 21
PL_YEOH2 = 22
PL_YEOH3 = 23
PL_CHANNEL_COUNT = 24
pl_channel = c_int
pl_channels = c_ulonglong
PL_START = 0
PL_INPUT = 1
PL_PARAMETER = 2
pl_role = c_int
PL_OWNER_BODY = 0
PL_OWNER_FORCE = 1
PL_OWNER_WIND = 2
PL_OWNER_PIN = 3
PL_OWNER_COLLIDER = 4
PL_OWNER_ATTACHMENT = 5
PL_OWNER_MUSCLE = 6
PL_OWNER_CABLE = 7
PL_OWNER_CHAMBER = 8
PL_OWNER_COUNT = 9
pl_owner = c_int
PL_ROW_OWNER = 0
PL_ROW_VERTEX = 1
PL_ROW_ELEMENT = 2
PL_ROW_BODY = 3
pl_row = c_int
PL_BLEND_HELD = 0
PL_BLEND_LINEAR = 1
PL_BLEND_POSE = 2
pl_blend = c_int


class pl_channel_info(Structure):
    pass


pl_channel_info._fields_ = [
    ("name", c_char_p),
    ("unit", c_char_p),
    ("role", pl_role),
    ("owner", pl_owner),
    ("row", pl_row),
    ("width", c_int),
    ("gradient_width", c_int),
    ("lower", c_double),
    ("upper", c_double),
    ("above", c_bool),
    ("usual", c_double),
    ("blend", pl_blend),
]


class pl_params(Structure):
    pass


pl_device_fn = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)
PL_CONTACT_COLLIDER = 0
PL_CONTACT_FACE = 1
PL_CONTACT_EDGE = 2
PL_CONTACT_VERTEX = 3
PL_CONTACT_EDGES = 4
pl_contact_kind = c_int


class pl_contact(Structure):
    pass


pl_contact._fields_ = [
    ("count", c_int),
    ("vertex", c_int * 4),
    ("weight", c_double * 4),
    ("kind", pl_contact_kind),
    ("collider", c_int),
    ("ridge", c_int),
    ("normal", c_double * 3),
    ("gap", c_double),
    ("force_normal", c_double),
    ("force_tangent", c_double * 3),
]


class pl_pair_force(Structure):
    pass


pl_pair_force._fields_ = [
    ("body", c_int),
    ("other", c_int),
    ("collider", c_int),
    ("contacts", c_int),
    ("pressing", c_double),
    ("normal", c_double * 3),
    ("friction", c_double * 3),
]


class pl_state(Structure):
    pass


pl_state._fields_ = [
    ("vertex_count", c_int),
    ("q", POINTER(c_double)),
    ("v", POINTER(c_double)),
    ("time", c_double),
    ("step", c_int),
    ("input", POINTER(c_double) * 24),
    ("contact_count", c_int),
    ("contact_capacity", c_int),
    ("contacts", POINTER(pl_contact)),
    ("live_count", c_int),
    ("live", POINTER(c_double)),
    ("before_length", c_double),
    ("q_before", POINTER(c_double)),
    ("v_before", POINTER(c_double)),
    ("a", POINTER(c_double)),
    ("a_before", POINTER(c_double)),
]


class pl_inputs(Structure):
    pass


pl_inputs._fields_ = [
    ("of", POINTER(c_double) * 24),
]
PL_STAGE_LOCAL = 0
PL_STAGE_ASSEMBLE = 1
PL_STAGE_FACTOR = 2
PL_STAGE_SOLVE = 3
PL_STAGE_CONTACT = 4
PL_STAGE_OTHER = 5
PL_STAGE_COUNT = 6


class pl_step_info(Structure):
    pass


pl_step_info._fields_ = [
    ("converged", c_bool),
    ("iterations", c_int),
    ("inner_iterations", c_int),
    ("linear_solves", c_int),
    ("factorizations", c_int),
    ("splits", c_int),
    ("choices", c_int),
    ("contacts", c_int),
    ("residual", c_double),
    ("complementarity", c_double),
    ("cone_violation", c_double),
    ("penetration", c_double),
    ("energy_kinetic", c_double),
    ("energy_elastic", c_double),
    ("energy_gravity", c_double),
    ("milliseconds", c_double * 6),
]


class pl_sim(Structure):
    pass


pl_progress_fn = CFUNCTYPE(c_bool, c_void_p, c_int, POINTER(pl_state), POINTER(pl_step_info))


class pl_rollout_def(Structure):
    pass


pl_rollout_def._fields_ = [
    ("steps", c_int),
    ("inputs", pl_inputs),
    ("params", POINTER(pl_params)),
    ("tape", c_bool),
    ("memory_budget", c_size_t),
    ("progress", pl_progress_fn),
    ("progress_user", c_void_p),
]


class pl_rollout(Structure):
    pass


pl_loss_fn = CFUNCTYPE(c_bool, c_void_p, c_int, POINTER(c_double), POINTER(c_double), POINTER(c_double), POINTER(c_double), POINTER(c_double))


class pl_gradient(Structure):
    pass


pl_gradient._fields_ = [
    ("wanted", pl_channels),
    ("steps", c_int),
    ("of", POINTER(c_double) * 24),
]
PL_ADJOINT_AUTO = 0
PL_ADJOINT_DIRECT = 1
PL_ADJOINT_KRYLOV = 2
PL_ADJOINT_SEMI_IMPLICIT = 3
pl_adjoint_solver = c_int
PL_PRECONDITION_NONE = 0
PL_PRECONDITION_JACOBI = 1
PL_PRECONDITION_INVERSE = 2
PL_PRECONDITION_WOODBURY = 3
PL_PRECONDITION_LAGGED = 4
pl_preconditioner = c_int


class pl_adjoint_def(Structure):
    pass


pl_adjoint_def._fields_ = [
    ("solver", pl_adjoint_solver),
    ("preconditioner", pl_preconditioner),
    ("tolerance", c_double),
    ("max_iterations", c_int),
    ("contact_epsilon2", c_double),
]


class pl_adjoint_info(Structure):
    pass


pl_adjoint_info._fields_ = [
    ("loss", c_double),
    ("iterations", c_int),
    ("max_iterations", c_int),
    ("factorizations", c_int),
    ("residual", c_double),
    ("error", c_double),
    ("recomputed", c_int),
    ("milliseconds", c_double),
]
pl_tangent_fn = CFUNCTYPE(c_bool, c_void_p, c_int, POINTER(c_double), POINTER(c_double), POINTER(c_double), POINTER(c_double))


class pl_batch(Structure):
    pass




class pl_batch_def(Structure):
    pass


pl_batch_def._fields_ = [
    ("environments", c_int),
    ("workers", c_int),
]
pl_batch_progress_fn = CFUNCTYPE(c_bool, c_void_p, c_int, c_int, POINTER(pl_state), POINTER(pl_step_info))


class pl_batch_run_def(Structure):
    pass


pl_batch_run_def._fields_ = [
    ("steps", c_int),
    ("inputs", pl_inputs),
    ("inputs_for", c_int * 24),
    ("memory_budget", c_size_t),
    ("q", POINTER(c_double)),
    ("v", POINTER(c_double)),
    ("info", POINTER(pl_step_info)),
    ("progress", pl_batch_progress_fn),
    ("progress_user", c_void_p),
]


class pl_rollouts(Structure):
    pass


pl_batch_loss_fn = CFUNCTYPE(c_bool, c_void_p, c_int, c_int, POINTER(c_double), POINTER(c_double), POINTER(c_double), POINTER(c_double), POINTER(c_double))


class pl_check_def(Structure):
    pass


pl_check_def._fields_ = [
    ("steps", c_int),
    ("inputs", pl_inputs),
    ("wanted", pl_channels),
    ("directions", c_int),
    ("step", c_double),
    ("step_count", c_int),
    ("tolerance", c_double),
    ("sweep_tolerance", c_double),
    ("newton_tolerance", c_double),
    ("seed", c_uint),
    ("adjoint", pl_adjoint_def),
    ("loss", pl_loss_fn),
    ("loss_user", c_void_p),
    ("progress", CFUNCTYPE(c_bool, c_void_p, c_int, c_int)),
    ("progress_user", c_void_p),
]
PL_CHECK_PASSED = 0
PL_CHECK_UNRESOLVED = 1
PL_CHECK_FAILED = 2
pl_check_verdict = c_int


class pl_check_row(Structure):
    pass


pl_check_row._fields_ = [
    ("channel", pl_channel),
    ("values", c_int),
    ("along_gradient", c_bool),
    ("one_sided", c_bool),
    ("adjoint", c_double),
    ("tangent", c_double),
    ("difference", c_double),
    ("uncertainty", c_double),
    ("error", c_double),
    ("sweep_error", c_double),
    ("step", c_double),
    ("step_count", c_int),
    ("steps", c_double * 12),
    ("differences", c_double * 12),
    ("verdict", pl_check_verdict),
]


class pl_check_regimes(Structure):
    pass


pl_check_regimes._fields_ = [
    ("steps", c_int),
    ("free_steps", c_int),
    ("stick_steps", c_int),
    ("slip_steps", c_int),
    ("impact_steps", c_int),
    ("stick", c_int),
    ("slip", c_int),
    ("impact", c_int),
    ("splits", c_int),
    ("largest_force", c_double),
]


class pl_check_result(Structure):
    pass


pl_check_result._fields_ = [
    ("loss", c_double),
    ("regimes", pl_check_regimes),
    ("row_count", c_int),
    ("rows", POINTER(pl_check_row)),
    ("failed", c_int),
    ("unresolved", c_int),
    ("worst_error", c_double),
    ("worst_sweep_error", c_double),
    ("adjoint", pl_adjoint_info),
    ("milliseconds", c_double),
]
PL_GRADIENT_DESCENT = 0
PL_ADAM = 1
PL_LBFGSB = 2
PL_LEVENBERG_MARQUARDT = 3
pl_method = c_int


class pl_optimizer_def(Structure):
    pass


pl_optimizer_def._fields_ = [
    ("method", pl_method),
    ("iterations", c_int),
    ("rate", c_double),
    ("growth", c_double),
    ("max_step", c_double),
    ("beta1", c_double),
    ("beta2", c_double),
    ("pairs", c_int),
    ("stop_loss", c_double),
    ("stop_gradient", c_double),
    ("stop_decrease", c_double),
]
PL_STOP_NONE = 0
PL_STOP_ITERATIONS = 1
PL_STOP_LOSS = 2
PL_STOP_GRADIENT = 3
PL_STOP_DECREASE = 4
PL_STOP_STALLED = 5
pl_stop = c_int


class pl_task(Structure):
    pass




class pl_fit_progress(Structure):
    pass


pl_fit_progress._fields_ = [
    ("start", c_int),
    ("starts", c_int),
    ("window", c_int),
    ("windows", c_int),
    ("iteration", c_int),
    ("iterations", c_int),
    ("evaluations", c_int),
    ("loss", c_double),
    ("best_loss", c_double),
    ("contact_epsilon2", c_double),
    ("parameter_count", c_int),
    ("names", POINTER(c_char_p)),
    ("values", POINTER(c_double)),
]


class pl_fit_def(Structure):
    pass


pl_fit_def._fields_ = [
    ("directory", c_char_p),
    ("resume", c_bool),
    ("report", c_bool),
    ("uncertainty", c_bool),
    ("progress", CFUNCTYPE(None, c_void_p, POINTER(pl_fit_progress))),
    ("keep_going", CFUNCTYPE(c_bool, c_void_p)),
    ("user", c_void_p),
]
PL_DOUBT_BOUND = 0
PL_DOUBT_RESIDUAL = 1
PL_DOUBT_DIRECTION = 2
PL_DOUBT_CONVERGENCE = 3
PL_DOUBT_STEPS = 4
PL_DOUBT_MINIMUM = 5
PL_DOUBT_GOAL = 6
pl_doubt = c_int


class pl_fit_reason(Structure):
    pass


pl_fit_reason._fields_ = [
    ("doubt", pl_doubt),
    ("text", c_char_p),
]


class pl_fit_start(Structure):
    pass


pl_fit_start._fields_ = [
    ("initial", POINTER(c_double)),
    ("values", POINTER(c_double)),
    ("loss", c_double),
    ("iterations", c_int),
    ("stop", pl_stop),
    ("refused", c_bool),
]


class pl_fit_goal(Structure):
    pass


pl_fit_goal._fields_ = [
    ("text", c_char_p),
    ("rms", c_double),
    ("largest", c_double),
    ("within", c_double),
]


class pl_fit_result(Structure):
    pass


pl_fit_result._fields_ = [
    ("identified", c_bool),
    ("verdict", c_char_p),
    ("reason_count", c_int),
    ("reasons", POINTER(pl_fit_reason)),
    ("stop", pl_stop),
    ("iterations", c_int),
    ("evaluations", c_int),
    ("refused", c_int),
    ("residual", c_double),
    ("start_count", c_int),
    ("starts", POINTER(pl_fit_start)),
    ("best", c_int),
    ("row_count", c_int),
    ("parameter_count", c_int),
    ("names", POINTER(c_char_p)),
    ("units", POINTER(c_char_p)),
    ("truth", POINTER(c_double)),
    ("loss", POINTER(c_double)),
    ("epsilon2", POINTER(c_double)),
    ("values", POINTER(c_double)),
    ("gradient", POINTER(c_double)),
    ("difference", POINTER(c_double)),
    ("standard_error", POINTER(c_double)),
    ("correlation", POINTER(c_double)),
    ("seconds", c_double),
    ("forward_seconds", c_double),
    ("backward_seconds", c_double),
    ("rollouts", c_int),
    ("sweeps", c_int),
    ("steps", c_int),
    ("tape_bytes", c_size_t),
    ("window_count", c_int),
    ("goal_count", c_int),
    ("goals", POINTER(pl_fit_goal)),
    ("signal_count", c_int),
    ("signal_names", POINTER(c_char_p)),
    ("signals", POINTER(c_double)),
]


class pl_task_points(Structure):
    pass


pl_task_points._fields_ = [
    ("first", c_int),
    ("count", c_int),
    ("workers", c_int),
    ("keep_going", CFUNCTYPE(c_bool, c_void_p)),
    ("user", c_void_p),
    ("values", POINTER(c_double)),
    ("loss", POINTER(c_double)),
    ("gradient", POINTER(c_double)),
    ("status", POINTER(pl_status)),
    ("message", POINTER(c_char)),
]


class pl_fit_stages(Structure):
    pass


pl_fit_stages._fields_ = [
    ("t50", c_double),
    ("t90", c_double),
    ("area", c_double * 3),
    ("share", c_double * 3),
    ("error", c_double * 3),
]


class pl_scene_file_info(Structure):
    pass


pl_scene_file_info._fields_ = [
    ("name", c_char * 128),
    ("steps", c_int),
    ("output_every", c_int),
    ("output_volume", c_bool),
    ("output_surface", c_bool),
    ("output_colliders", c_bool),
]


class pl_output(Structure):
    pass




class pl_output_def(Structure):
    pass


pl_output_def._fields_ = [
    ("directory", c_char_p),
    ("replace", c_bool),
    ("every", c_int),
    ("volume", c_bool),
    ("surface", c_bool),
    ("colliders", c_bool),
    ("scene", c_char_p),
]


class pl_plot_line(Structure):
    pass


pl_plot_line._fields_ = [
    ("name", c_char_p),
    ("colour", c_char_p),
    ("count", c_int),
    ("x", POINTER(c_double)),
    ("y", POINTER(c_double)),
    ("error", POINTER(c_double)),
    ("dashed", c_bool),
    ("markers", c_bool),
    ("level", c_bool),
]


class pl_plot(Structure):
    pass


pl_plot._fields_ = [
    ("title", c_char_p),
    ("x_label", c_char_p),
    ("y_label", c_char_p),
    ("log_x", c_bool),
    ("log_y", c_bool),
    ("line_count", c_int),
    ("lines", POINTER(pl_plot_line)),
    ("width", c_double),
    ("height", c_double),
]


class pl_report(Structure):
    pass




class pl_report_def(Structure):
    pass


pl_report_def._fields_ = [
    ("title", c_char_p),
    ("subtitle", c_char_p),
    ("max_frames", c_int),
    ("max_bytes", c_size_t),
    ("up", c_double * 3),
]


class pl_report_trajectory(Structure):
    pass


pl_report_trajectory._fields_ = [
    ("name", c_char_p),
    ("colour", c_char_p),
    ("opacity", c_double),
    ("edges", c_bool),
    ("hidden", c_bool),
    ("forces", c_bool),
    ("vertex_count", c_int),
    ("triangle_count", c_int),
    ("triangles", POINTER(c_int)),
    ("frame_count", c_int),
    ("frames", POINTER(c_double)),
    ("activation", POINTER(c_double)),
    ("start", c_double),
    ("time_step", c_double),
]


class pl_report_contacts(Structure):
    pass


pl_report_contacts._fields_ = [
    ("name", c_char_p),
    ("frame_count", c_int),
    ("first", POINTER(c_int)),
    ("point", POINTER(c_double)),
    ("normal", POINTER(c_double)),
    ("tangent", POINTER(c_double)),
    ("start", c_double),
    ("time_step", c_double),
]


class pl_report_points(Structure):
    pass


pl_report_points._fields_ = [
    ("name", c_char_p),
    ("colour", c_char_p),
    ("hidden", c_bool),
    ("frame_count", c_int),
    ("times", POINTER(c_double)),
    ("first", POINTER(c_int)),
    ("point", POINTER(c_double)),
    ("model", POINTER(c_double)),
]


class pl_recording(Structure):
    pass




class pl_report_fit(Structure):
    pass


pl_report_fit._fields_ = [
    ("parameter_count", c_int),
    ("names", POINTER(c_char_p)),
    ("units", POINTER(c_char_p)),
    ("iteration_count", c_int),
    ("made", c_int),
    ("loss", POINTER(c_double)),
    ("values", POINTER(c_double)),
    ("gradient", POINTER(c_double)),
    ("difference_gradient", POINTER(c_double)),
    ("truth", POINTER(c_double)),
    ("standard_error", POINTER(c_double)),
    ("correlation", POINTER(c_double)),
    ("seconds", c_double),
    ("failure", c_char_p),
    ("success", c_char_p),
    ("stage_count", c_int),
    ("stages", POINTER(c_char_p)),
    ("stage_seconds", POINTER(c_double)),
    ("setting_count", c_int),
    ("settings", POINTER(c_char_p)),
    ("statistic_count", c_int),
    ("statistics", POINTER(c_char_p)),
]


class pl_shape_info(Structure):
    pass


pl_shape_info._fields_ = [
    ("name", c_char_p),
    ("description", c_char_p),
    ("cloth", c_bool),
    ("vertices", c_int),
    ("lower", c_double * 3),
    ("upper", c_double * 3),
]


class pl_surface_report(Structure):
    pass


pl_surface_report._fields_ = [
    ("vertices", c_int),
    ("triangles", c_int),
    ("shells", c_int),
    ("merged", c_int),
    ("degenerate", c_int),
    ("duplicate", c_int),
    ("turned", c_int),
    ("inverted_shells", c_int),
    ("open_edges", c_int),
    ("branching_edges", c_int),
    ("one_sided_edges", c_int),
    ("crossing", c_int),
    ("volume", c_double),
    ("lower", c_double * 3),
    ("upper", c_double * 3),
]


class pl_tetrahedralize_def(Structure):
    pass


pl_tetrahedralize_def._fields_ = [
    ("cell", c_double),
    ("vertices", c_int),
]


class pl_tetrahedralize_report(Structure):
    pass


pl_tetrahedralize_report._fields_ = [
    ("surface", pl_surface_report),
    ("cell", c_double),
    ("vertices", c_int),
    ("tets", c_int),
    ("components", c_int),
    ("volume", c_double),
    ("volume_error", c_double),
    ("min_dihedral", c_double),
    ("max_dihedral", c_double),
    ("worst", c_int * 5),
    ("worst_angle", c_double * 5),
    ("dropped", c_int),
    ("dropped_volume", c_double),
    ("milliseconds", c_double),
]


class pl_embedding(Structure):
    pass


pl_embedding._fields_ = [
    ("count", c_int),
    ("vertex", POINTER(c_int)),
    ("weight", POINTER(c_double)),
]

# name: (result, arguments)
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "pl_context_def_default": (pl_context_def, []),
    "pl_context_create": (pl_status, [POINTER(pl_context_def), POINTER(POINTER(pl_context))]),
    "pl_context_destroy": (None, [POINTER(pl_context)]),
    "pl_context_error": (c_char_p, [POINTER(pl_context)]),
    "pl_context_threads": (c_int, [POINTER(pl_context)]),
    "pl_status_name": (c_char_p, [pl_status]),
    "pl_version": (c_char_p, []),
    "pl_mesh_free": (None, [POINTER(pl_context), POINTER(pl_mesh)]),
    "pl_mesh_copy": (pl_status, [POINTER(pl_context), POINTER(pl_mesh), POINTER(POINTER(pl_mesh))]),
    "pl_mesh_create": (pl_status, [POINTER(pl_context), c_int, POINTER(c_double), c_int, POINTER(c_int), c_int, POINTER(c_int), POINTER(POINTER(pl_mesh))]),
    "pl_mesh_add_group": (pl_status, [POINTER(pl_context), POINTER(pl_mesh), c_char_p, pl_group_kind, c_int, POINTER(c_int)]),
    "pl_mesh_find_group": (POINTER(pl_group), [POINTER(pl_mesh), c_char_p, pl_group_kind]),
    "pl_mesh_box": (pl_status, [POINTER(pl_context), POINTER(c_double), c_double, POINTER(POINTER(pl_mesh))]),
    "pl_mesh_grid": (pl_status, [POINTER(pl_context), POINTER(c_int), c_double, pl_cut, POINTER(POINTER(pl_mesh))]),
    "pl_mesh_hollow_box": (pl_status, [POINTER(pl_context), POINTER(c_double), c_double, c_double, POINTER(POINTER(pl_mesh))]),
    "pl_mesh_bar": (pl_status, [POINTER(pl_context), c_double, c_double, c_double, c_double, POINTER(POINTER(pl_mesh))]),
    "pl_mesh_cylinder": (pl_status, [POINTER(pl_context), c_double, c_double, c_double, POINTER(POINTER(pl_mesh))]),
    "pl_mesh_ellipsoid": (pl_status, [POINTER(pl_context), POINTER(c_double), c_double, POINTER(POINTER(pl_mesh))]),
    "pl_mesh_rectangle": (pl_status, [POINTER(pl_context), c_double, c_double, c_double, POINTER(POINTER(pl_mesh))]),
    "pl_mesh_disc": (pl_status, [POINTER(pl_context), c_double, c_double, POINTER(POINTER(pl_mesh))]),
    "pl_mesh_read": (pl_status, [POINTER(pl_context), c_char_p, POINTER(POINTER(pl_mesh))]),
    "pl_mesh_write": (pl_status, [POINTER(pl_context), POINTER(pl_mesh), c_char_p]),
    "pl_mesh_check": (pl_status, [POINTER(pl_context), POINTER(pl_mesh), POINTER(pl_mesh_report)]),
    "pl_mesh_surface": (pl_status, [POINTER(pl_context), POINTER(pl_mesh), POINTER(c_int), POINTER(POINTER(c_int))]),
    "pl_free": (None, [POINTER(pl_context), c_void_p]),
    "pl_mesh_transform": (None, [POINTER(pl_mesh), c_double, POINTER(c_double), POINTER(c_double)]),
    "pl_scene_def_default": (pl_scene_def, []),
    "pl_scene_create": (pl_status, [POINTER(pl_context), POINTER(pl_scene_def), POINTER(POINTER(pl_scene))]),
    "pl_scene_destroy": (None, [POINTER(pl_scene)]),
    "pl_body_def_default": (pl_body_def, []),
    "pl_scene_add_body": (pl_status, [POINTER(pl_scene), POINTER(pl_body_def), POINTER(c_int)]),
    "pl_scene_set_body_contact": (pl_status, [POINTER(pl_scene), c_int, c_int, c_bool]),
    "pl_scene_get_body_contact": (c_bool, [POINTER(pl_scene), c_int, c_int]),
    "pl_scene_set_body_friction": (pl_status, [POINTER(pl_scene), c_int, c_int, c_double]),
    "pl_pin_def_default": (pl_pin_def, []),
    "pl_scene_add_pin": (pl_status, [POINTER(pl_scene), POINTER(pl_pin_def), POINTER(c_int)]),
    "pl_force_def_default": (pl_force_def, []),
    "pl_scene_add_force": (pl_status, [POINTER(pl_scene), POINTER(pl_force_def), POINTER(c_int)]),
    "pl_wind_def_default": (pl_wind_def, []),
    "pl_scene_add_wind": (pl_status, [POINTER(pl_scene), POINTER(pl_wind_def), POINTER(c_int)]),
    "pl_collider_def_default": (pl_collider_def, []),
    "pl_scene_add_collider": (pl_status, [POINTER(pl_scene), POINTER(pl_collider_def), POINTER(c_int)]),
    "pl_scene_set_friction": (pl_status, [POINTER(pl_scene), c_int, c_int, c_double]),
    "pl_attachment_def_default": (pl_attachment_def, []),
    "pl_scene_add_attachment": (pl_status, [POINTER(pl_scene), POINTER(pl_attachment_def), POINTER(c_int)]),
    "pl_muscle_def_default": (pl_muscle_def, []),
    "pl_scene_add_muscle": (pl_status, [POINTER(pl_scene), POINTER(pl_muscle_def), POINTER(c_int)]),
    "pl_cable_def_default": (pl_cable_def, []),
    "pl_scene_add_cable": (pl_status, [POINTER(pl_scene), POINTER(pl_cable_def), POINTER(c_int)]),
    "pl_scene_cable_rows": (c_int, [POINTER(pl_scene), c_int, POINTER(c_int)]),
    "pl_chamber_def_default": (pl_chamber_def, []),
    "pl_scene_add_chamber": (pl_status, [POINTER(pl_scene), POINTER(pl_chamber_def), POINTER(c_int)]),
    "pl_scene_bring_out": (pl_status, [POINTER(pl_scene), POINTER(c_double)]),
    "pl_scene_get_info": (pl_scene_info, [POINTER(pl_scene)]),
    "pl_scene_get_def": (pl_scene_def, [POINTER(pl_scene)]),
    "pl_scene_body": (pl_status, [POINTER(pl_scene), c_int, POINTER(pl_body_info)]),
    "pl_scene_collider": (pl_status, [POINTER(pl_scene), c_int, POINTER(pl_collider_def)]),
    "pl_scene_point_at": (pl_status, [POINTER(pl_scene), c_int, POINTER(c_double), POINTER(pl_point)]),
    "pl_scene_attachment": (pl_status, [POINTER(pl_scene), c_int, POINTER(pl_attachment_def)]),
    "pl_scene_muscle": (pl_status, [POINTER(pl_scene), c_int, POINTER(pl_muscle_def)]),
    "pl_scene_cable": (pl_status, [POINTER(pl_scene), c_int, POINTER(pl_cable_def)]),
    "pl_scene_chamber": (pl_status, [POINTER(pl_scene), c_int, POINTER(pl_chamber_def)]),
    "pl_chamber_volume": (pl_status, [POINTER(pl_scene), c_int, POINTER(c_double), POINTER(c_double)]),
    "pl_scene_context": (POINTER(pl_context), [POINTER(pl_scene)]),
    "pl_channel_get": (POINTER(pl_channel_info), [pl_channel]),
    "pl_channel_find": (pl_channel, [c_char_p]),
    "pl_owner_name": (c_char_p, [pl_owner]),
    "pl_scene_owner_count": (c_int, [POINTER(pl_scene), pl_owner]),
    "pl_scene_rows": (pl_status, [POINTER(pl_scene), pl_channel, c_int, POINTER(c_int), POINTER(c_int)]),
    "pl_scene_row_count": (c_int, [POINTER(pl_scene), pl_channel]),
    "pl_scene_params": (POINTER(pl_params), [POINTER(pl_scene)]),
    "pl_params_create": (pl_status, [POINTER(pl_scene), POINTER(POINTER(pl_params))]),
    "pl_params_destroy": (None, [POINTER(pl_params)]),
    "pl_params_set": (pl_status, [POINTER(pl_params), pl_channel, c_int, c_int, POINTER(c_double)]),
    "pl_params_get": (pl_status, [POINTER(pl_params), pl_channel, c_int, c_int, POINTER(c_double)]),
    "pl_devices": (None, [POINTER(pl_context), pl_device_fn, c_void_p]),
    "pl_pair_forces": (pl_status, [POINTER(pl_scene), c_int, POINTER(pl_contact), POINTER(c_int), POINTER(POINTER(pl_pair_force))]),
    "pl_state_create": (pl_status, [POINTER(pl_scene), POINTER(POINTER(pl_state))]),
    "pl_state_copy": (pl_status, [POINTER(pl_scene), POINTER(pl_state), POINTER(pl_state)]),
    "pl_state_destroy": (None, [POINTER(pl_scene), POINTER(pl_state)]),
    "pl_chamber_pressure": (pl_status, [POINTER(pl_scene), c_int, POINTER(pl_state), POINTER(c_double)]),
    "pl_sim_create": (pl_status, [POINTER(pl_scene), POINTER(POINTER(pl_sim))]),
    "pl_sim_destroy": (None, [POINTER(pl_sim)]),
    "pl_sim_scene": (POINTER(pl_scene), [POINTER(pl_sim)]),
    "pl_step": (pl_status, [POINTER(pl_sim), POINTER(pl_state), POINTER(pl_inputs), POINTER(pl_step_info)]),
    "pl_element_fields": (pl_status, [POINTER(pl_sim), POINTER(pl_state), POINTER(c_double), POINTER(c_double), POINTER(c_double)]),
    "pl_rollout_def_default": (pl_rollout_def, []),
    "pl_rollout_run": (pl_status, [POINTER(pl_sim), POINTER(pl_state), POINTER(pl_rollout_def), POINTER(POINTER(pl_rollout))]),
    "pl_rollout_destroy": (None, [POINTER(pl_rollout)]),
    "pl_rollout_steps": (c_int, [POINTER(pl_rollout)]),
    "pl_rollout_bytes": (c_size_t, [POINTER(pl_rollout)]),
    "pl_rollout_state": (pl_status, [POINTER(pl_rollout), c_int, POINTER(c_double), POINTER(c_double)]),
    "pl_rollout_contacts": (pl_status, [POINTER(pl_rollout), c_int, POINTER(c_int), POINTER(POINTER(pl_contact))]),
    "pl_gradient_create": (pl_status, [POINTER(pl_scene), c_int, pl_channels, POINTER(POINTER(pl_gradient))]),
    "pl_gradient_destroy": (None, [POINTER(pl_scene), POINTER(pl_gradient)]),
    "pl_adjoint_def_default": (pl_adjoint_def, []),
    "pl_rollout_backward": (pl_status, [POINTER(pl_rollout), POINTER(pl_adjoint_def), pl_loss_fn, c_void_p, POINTER(pl_gradient), POINTER(pl_adjoint_info)]),
    "pl_rollout_tangent": (pl_status, [POINTER(pl_rollout), POINTER(pl_adjoint_def), POINTER(pl_gradient), pl_tangent_fn, c_void_p, POINTER(pl_adjoint_info)]),
    "pl_batch_def_default": (pl_batch_def, []),
    "pl_batch_create": (pl_status, [POINTER(pl_scene), POINTER(pl_batch_def), POINTER(POINTER(pl_batch))]),
    "pl_batch_destroy": (None, [POINTER(pl_batch)]),
    "pl_batch_environments": (c_int, [POINTER(pl_batch)]),
    "pl_batch_workers": (c_int, [POINTER(pl_batch)]),
    "pl_batch_params": (POINTER(pl_params), [POINTER(pl_batch), c_int]),
    "pl_batch_state": (POINTER(pl_state), [POINTER(pl_batch), c_int]),
    "pl_batch_set": (pl_status, [POINTER(pl_batch), pl_channel, c_int, POINTER(c_double)]),
    "pl_batch_reset": (pl_status, [POINTER(pl_batch), c_int]),
    "pl_batch_run_def_default": (pl_batch_run_def, []),
    "pl_batch_run": (pl_status, [POINTER(pl_batch), POINTER(pl_batch_run_def), POINTER(POINTER(pl_rollouts))]),
    "pl_rollouts_destroy": (None, [POINTER(pl_rollouts)]),
    "pl_rollouts_bytes": (c_size_t, [POINTER(pl_rollouts)]),
    "pl_rollouts_contacts": (pl_status, [POINTER(pl_rollouts), c_int, c_int, POINTER(c_int), POINTER(POINTER(pl_contact))]),
    "pl_batch_status": (pl_status, [POINTER(pl_batch), c_int, POINTER(c_char_p)]),
    "pl_batch_gradient_create": (pl_status, [POINTER(pl_batch), c_int, pl_channels, POINTER(POINTER(pl_gradient))]),
    "pl_rollouts_backward": (pl_status, [POINTER(pl_rollouts), POINTER(pl_adjoint_def), pl_batch_loss_fn, c_void_p, POINTER(pl_gradient), POINTER(pl_adjoint_info)]),
    "pl_rollouts_pull": (pl_status, [POINTER(pl_rollouts), POINTER(pl_adjoint_def), POINTER(c_double), POINTER(c_double), POINTER(pl_gradient), POINTER(pl_adjoint_info)]),
    "pl_rollouts_tangent": (pl_status, [POINTER(pl_rollouts), POINTER(pl_adjoint_def), POINTER(pl_gradient), POINTER(c_double), POINTER(c_double), POINTER(pl_adjoint_info)]),
    "pl_batch_evaluate": (pl_status, [POINTER(pl_batch), POINTER(pl_batch_run_def), POINTER(pl_adjoint_def), pl_batch_loss_fn, c_void_p, POINTER(pl_gradient), POINTER(pl_adjoint_info)]),
    "pl_check_def_default": (pl_check_def, []),
    "pl_check": (pl_status, [POINTER(pl_sim), POINTER(pl_state), POINTER(pl_check_def), POINTER(POINTER(pl_check_result))]),
    "pl_check_destroy": (None, [POINTER(pl_context), POINTER(pl_check_result)]),
    "pl_optimizer_def_default": (pl_optimizer_def, []),
    "pl_stop_text": (c_char_p, [pl_stop]),
    "pl_task_load": (pl_status, [POINTER(pl_context), c_char_p, c_int, POINTER(c_char_p), POINTER(POINTER(pl_task))]),
    "pl_task_destroy": (None, [POINTER(pl_task)]),
    "pl_task_scene": (POINTER(pl_scene), [POINTER(pl_task)]),
    "pl_task_schema": (pl_status, [POINTER(pl_context), POINTER(POINTER(c_char))]),
    "pl_fit_def_default": (pl_fit_def, []),
    "pl_doubt_name": (c_char_p, [pl_doubt]),
    "pl_task_fit": (pl_status, [POINTER(pl_task), POINTER(pl_fit_def), POINTER(POINTER(pl_fit_result))]),
    "pl_fit_result_free": (None, [POINTER(pl_task), POINTER(pl_fit_result)]),
    "pl_task_value_count": (c_int, [POINTER(pl_task)]),
    "pl_task_value_name": (None, [POINTER(pl_task), c_int, c_size_t, POINTER(c_char)]),
    "pl_task_evaluate": (pl_status, [POINTER(pl_task), POINTER(pl_task_points)]),
    "pl_fit_measure": (pl_fit_stages, [POINTER(pl_fit_result)]),
    "pl_scene_load": (pl_status, [POINTER(pl_context), c_char_p, c_int, POINTER(c_char_p), POINTER(POINTER(pl_scene)), POINTER(pl_scene_file_info)]),
    "pl_scene_load_text": (pl_status, [POINTER(pl_context), c_char_p, c_size_t, c_char_p, c_char_p, c_int, POINTER(c_char_p), POINTER(POINTER(pl_scene)), POINTER(pl_scene_file_info)]),
    "pl_scene_text": (pl_status, [POINTER(pl_scene), POINTER(pl_scene_file_info), POINTER(POINTER(c_char))]),
    "pl_scene_save": (pl_status, [POINTER(pl_scene), POINTER(pl_scene_file_info), c_char_p]),
    "pl_scene_schema": (pl_status, [POINTER(pl_context), POINTER(POINTER(c_char))]),
    "pl_output_def_default": (pl_output_def, []),
    "pl_output_create": (pl_status, [POINTER(pl_sim), POINTER(pl_output_def), POINTER(POINTER(pl_output))]),
    "pl_output_step": (pl_status, [POINTER(pl_output), POINTER(pl_state), POINTER(pl_step_info)]),
    "pl_output_rollout": (pl_status, [POINTER(pl_output), POINTER(pl_rollout), POINTER(pl_step_info)]),
    "pl_output_finish": (pl_status, [POINTER(pl_output), pl_status]),
    "pl_output_destroy": (None, [POINTER(pl_output)]),
    "pl_output_abandon": (None, [POINTER(pl_output)]),
    "pl_plot_default": (pl_plot, []),
    "pl_plot_write": (pl_status, [POINTER(pl_context), POINTER(pl_plot), c_char_p]),
    "pl_csv_write": (pl_status, [POINTER(pl_context), c_char_p, c_int, POINTER(c_char_p), c_int, POINTER(POINTER(c_double))]),
    "pl_report_def_default": (pl_report_def, []),
    "pl_report_create": (pl_status, [POINTER(pl_context), POINTER(pl_report_def), POINTER(POINTER(pl_report))]),
    "pl_report_destroy": (None, [POINTER(pl_report)]),
    "pl_report_html": (pl_status, [POINTER(pl_report), POINTER(POINTER(c_char)), POINTER(c_size_t)]),
    "pl_report_write": (pl_status, [POINTER(pl_report), c_char_p]),
    "pl_report_set_headline": (pl_status, [POINTER(pl_report), c_char_p]),
    "pl_report_add_fact": (pl_status, [POINTER(pl_report), c_char_p, c_char_p, c_char_p]),
    "pl_report_trajectory_default": (pl_report_trajectory, []),
    "pl_report_add_trajectory": (pl_status, [POINTER(pl_report), POINTER(pl_report_trajectory)]),
    "pl_report_add_collider": (pl_status, [POINTER(pl_report), POINTER(pl_collider_def)]),
    "pl_report_add_contacts": (pl_status, [POINTER(pl_report), POINTER(pl_report_contacts)]),
    "pl_report_add_points": (pl_status, [POINTER(pl_report), POINTER(pl_report_points)]),
    "pl_recording_create": (pl_status, [POINTER(pl_scene), POINTER(POINTER(pl_recording))]),
    "pl_recording_destroy": (None, [POINTER(pl_recording)]),
    "pl_recording_add": (pl_status, [POINTER(pl_recording), POINTER(pl_state)]),
    "pl_report_add_recording": (pl_status, [POINTER(pl_report), POINTER(pl_recording), POINTER(pl_report_trajectory)]),
    "pl_report_add_rollout": (pl_status, [POINTER(pl_report), POINTER(pl_scene), POINTER(pl_rollout), POINTER(pl_report_trajectory)]),
    "pl_report_add_section": (pl_status, [POINTER(pl_report), c_char_p, c_char_p]),
    "pl_report_add_plot": (pl_status, [POINTER(pl_report), POINTER(pl_plot)]),
    "pl_report_add_table": (pl_status, [POINTER(pl_report), c_char_p, c_int, POINTER(c_char_p), c_int, POINTER(c_char_p)]),
    "pl_report_add_bars": (pl_status, [POINTER(pl_report), c_char_p, c_char_p, c_int, POINTER(c_char_p), POINTER(c_double)]),
    "pl_report_add_matrix": (pl_status, [POINTER(pl_report), c_char_p, c_int, POINTER(c_char_p), POINTER(c_double)]),
    "pl_report_add_fit": (pl_status, [POINTER(pl_report), POINTER(pl_report_fit)]),
    "pl_shape_list": (POINTER(pl_shape_info), [c_int]),
    "pl_shape_build": (pl_status, [POINTER(pl_context), c_char_p, c_int, POINTER(POINTER(pl_mesh))]),
    "pl_surface_read": (pl_status, [POINTER(pl_context), c_char_p, POINTER(POINTER(pl_mesh))]),
    "pl_tetrahedralize_def_default": (pl_tetrahedralize_def, []),
    "pl_tetrahedralize": (pl_status, [POINTER(pl_context), POINTER(pl_mesh), POINTER(pl_tetrahedralize_def), POINTER(POINTER(pl_mesh)), POINTER(pl_tetrahedralize_report)]),
    "pl_embedding_create": (pl_status, [POINTER(pl_context), POINTER(pl_mesh), c_int, POINTER(c_double), POINTER(POINTER(pl_embedding))]),
    "pl_embedding_destroy": (None, [POINTER(pl_context), POINTER(pl_embedding)]),
    "pl_embedding_apply": (None, [POINTER(pl_embedding), POINTER(c_double), POINTER(c_double)]),
}


def declare(library: ctypes.CDLL) -> ctypes.CDLL:
    """Gives the library's functions their types."""
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
