/* A measurement as JSON and back, through one table of its numbers. */
#include "bench.h"

#include <math.h>
#include <stddef.h>

static const struct {
    const char *name;
    size_t offset; /* of a double in bench_result */
} numbers[] = {
    {"setup_ms", offsetof(bench_result, setup)},
    {"forward_ms", offsetof(bench_result, forward)},
    {"forward_cpu_ms", offsetof(bench_result, forward_cpu)},
    {"first_ten_ms", offsetof(bench_result, first)},
    {"iterations", offsetof(bench_result, iterations)},
    {"solves", offsetof(bench_result, solves)},
    {"factors", offsetof(bench_result, factorizations)},
    {"contacts", offsetof(bench_result, contacts)},
    {"residual", offsetof(bench_result, residual)},
    {"backward_ms", offsetof(bench_result, backward)},
    {"backward_cpu_ms", offsetof(bench_result, backward_cpu)},
    {"adjoint_iterations", offsetof(bench_result, adjoint_iterations)},
    {"adjoint_factors", offsetof(bench_result, adjoint_factorizations)},
    {"memory_mb", offsetof(bench_result, memory)},
};

enum { NUMBERS = sizeof numbers / sizeof *numbers };

json_t *bench_record(const bench_case *c, const bench_result *result)
{
    json_t *record = json_pack("{s:s, s:i, s:i, s:i}", "scene", c->name, "vertices", result->vertices,
                               "elements", result->elements, "steps", result->steps);
    for (int k = 0; k < NUMBERS; k++) {
        double value = *(const double *)((const char *)result + numbers[k].offset);
        json_object_set_new(record, numbers[k].name, json_real(value));
    }
    return record;
}

bench_result bench_record_read(const json_t *record)
{
    bench_result result = {
        .vertices = (int)json_integer_value(json_object_get(record, "vertices")),
        .elements = (int)json_integer_value(json_object_get(record, "elements")),
        .steps = (int)json_integer_value(json_object_get(record, "steps")),
    };
    for (int k = 0; k < NUMBERS; k++) {
        const json_t *value = json_object_get(record, numbers[k].name);
        double *target = (double *)((char *)&result + numbers[k].offset);
        *target = json_is_number(value) ? json_number_value(value) : NAN;
    }
    return result;
}
