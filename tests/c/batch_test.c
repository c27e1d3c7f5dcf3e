/* A matrix of its own for every system, through the C interface: against a dense solver, and wrong input. */
#include "checking.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BATCH = 37, ROOM = LARGEST * BATCH };

typedef struct Systems {
    bandmill_shape shape;
    Bands bands[BATCH];
    double diagonals[5][ROOM], b[ROOM];
    float diagonals_f32[5][ROOM], b_f32[ROOM];
} Systems;

static Systems systems; /* too large for the stack */

static int64_t position(bandmill_shape shape, int64_t row, int64_t system) {
    return row * shape.row_stride + system * shape.batch_stride;
}

static void make_systems(bandmill_shape shape, int width, int periodic) {
    systems.shape = shape;
    for (int64_t m = 0; m < shape.batch; ++m) {
        systems.bands[m] = random_bands(shape.rows, width, periodic);
        for (int64_t i = 0; i < shape.rows; ++i) {
            const int64_t k = position(shape, i, m);
            for (int d = 0; d < 2 * width + 1; ++d) {
                double* entry = &systems.bands[m].entry[d][i];
                *entry = (float)*entry; /* so that both precisions have the same matrix */
                systems.diagonals[d][k] = *entry;
                systems.diagonals_f32[d][k] = (float)*entry;
            }
            systems.b_f32[k] = (float)random_number();
            systems.b[k] = systems.b_f32[k];
        }
    }
}

/* As in solve_test.c: |x| <= |b| and a row has at most 5 entries. */
static void compare(const void* x, int precision, int64_t bad) {
    const int64_t n = systems.shape.rows;
    double b[LARGEST], expected[LARGEST], worst = 0;
    for (int64_t m = 0; m < systems.shape.batch; ++m) {
        for (int64_t i = 0; i < n; ++i) b[i] = systems.b[position(systems.shape, i, m)];
        if (m != bad) solve_dense(&systems.bands[m], b, expected);
        for (int64_t i = 0; i < n; ++i) {
            const int64_t k = position(systems.shape, i, m);
            const double found = precision == BANDMILL_F64 ? ((const double*)x)[k] : ((const float*)x)[k];
            if (m == bad)
                CHECK(isnan(found));
            else
                worst = fmax(worst, fabs(found - expected[i]));
        }
    }
    CHECK(worst <= 12 * (precision == BANDMILL_F64 ? DBL_EPSILON : FLT_EPSILON));
}

/* Factors and solves at a place, then both at once; `bad` is the system whose matrix cannot be used, in row 0. */
static void solve_both_ways(int place, int precision, int64_t bad) {
    const int f64 = precision == BANDMILL_F64, count = 2 * systems.bands[0].width + 1;
    const int boundary = systems.bands[0].periodic ? BANDMILL_PERIODIC : BANDMILL_OPEN;
    const int64_t bytes = ROOM * (f64 ? 8 : 4), batch = systems.shape.batch;
    static double x[ROOM];
    int64_t status[BATCH] = {0};
    void* diagonals[5] = {NULL};
    for (int d = 0; d < count; ++d)
        diagonals[d] = put(place, f64 ? (void*)systems.diagonals[d] : (void*)systems.diagonals_f32[d], bytes);
    const double* const d64[] = {diagonals[0], diagonals[1], diagonals[2], diagonals[3], diagonals[4]};
    const float* const d32[] = {diagonals[0], diagonals[1], diagonals[2], diagonals[3], diagonals[4]};
    void* b = put(place, f64 ? (void*)systems.b : (void*)systems.b_f32, bytes);
    void* solution = put(place, x, bytes);
    void* found = put(place, status, sizeof status);

    bandmill_batch_factor_t *factor = NULL, *copy = NULL;
    if (f64)
        OK(bandmill_batch_factor_f64(count, d64, systems.shape, boundary, place, 0, NULL, &factor));
    else
        OK(bandmill_batch_factor_f32(count, d32, systems.shape, boundary, place, 0, NULL, &factor));
    OK(bandmill_batch_factor_status(factor, status, NULL));
    for (int64_t m = 0; m < batch; ++m) CHECK(status[m] == (m == bad ? 1 : 0));
    bandmill_batch_report report;
    OK(bandmill_batch_factor_report(factor, &report));
    CHECK(report.rows == systems.shape.rows && report.batch == batch && report.half_bandwidth == count / 2);
    CHECK(report.boundary == boundary && report.precision == precision && report.place == place);
    CHECK(report.bytes >= batch * 8);
    OK(bandmill_batch_factor_copy(factor, &copy));
    bandmill_batch_factor_destroy(factor);
    if (f64)
        OK(bandmill_batch_solve_f64(copy, b, systems.shape, solution, systems.shape, 0, NULL));
    else
        OK(bandmill_batch_solve_f32(copy, b, systems.shape, solution, systems.shape, 0, NULL));
    OK(bandmill_copy_from(place, x, solution, bytes));
    compare(x, precision, bad);
    bandmill_batch_factor_destroy(copy);

    bandmill_workspace_t* workspace = NULL;
    OK(bandmill_workspace_create(count, systems.shape.rows, batch, boundary, precision, place, 0, &workspace));
    if (f64) /* in place */
        OK(bandmill_batch_solve_once_f64(count, d64, systems.shape, boundary, b, systems.shape, b, systems.shape, found,
                                         workspace, 0, NULL));
    else
        OK(bandmill_batch_solve_once_f32(count, d32, systems.shape, boundary, b, systems.shape, b, systems.shape, found,
                                         workspace, 0, NULL));
    OK(bandmill_synchronize(place, NULL));
    bandmill_workspace_destroy(workspace);
    get(place, x, b, bytes);
    compare(x, precision, bad);
    memset(status, 0, sizeof status);
    get(place, status, found, sizeof status);
    for (int64_t m = 0; m < batch; ++m) CHECK(status[m] == (m == bad ? 1 : 0));
    bandmill_release(place, solution);
    for (int d = 0; d < count; ++d) bandmill_release(place, diagonals[d]);
}

static void every_shape(int place) {
    const int64_t sizes[] = {1, 2, 3, 5, 30};
    for (int width = 1; width <= 2; ++width)
        for (int periodic = 0; periodic <= 1; ++periodic)
            for (int precision = BANDMILL_F32; precision <= BANDMILL_F64; precision += 32)
                for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
                    make_systems(bandmill_interleaved(sizes[s], BATCH), width, periodic);
                    solve_both_ways(place, precision, -1);
                    make_systems(bandmill_contiguous(sizes[s], BATCH), width, periodic);
                    solve_both_ways(place, precision, -1);
                }
}

static void a_bad_matrix_spoils_only_its_system(int place) {
    for (int precision = BANDMILL_F32; precision <= BANDMILL_F64; precision += 32) {
        make_systems(bandmill_interleaved(9, BATCH), 1, 0);
        const int64_t k = position(systems.shape, 0, 20);
        systems.diagonals[1][k] = 0;
        systems.diagonals_f32[1][k] = 0;
        solve_both_ways(place, precision, 20);
    }
}

static void wrong_input(void) {
    const int invalid = BANDMILL_INVALID_ARGUMENT, open = BANDMILL_OPEN, cpu = BANDMILL_CPU;
    const bandmill_shape shape = bandmill_interleaved(6, 4), other = bandmill_interleaved(6, 3);
    make_systems(shape, 1, 0);
    const double* const d[] = {systems.diagonals[0], systems.diagonals[1], systems.diagonals[2]};
    const double* const holes[] = {systems.diagonals[0], NULL, systems.diagonals[2]};
    const float* const d32[] = {systems.diagonals_f32[0], systems.diagonals_f32[1], systems.diagonals_f32[2]};
    double b[24] = {0}, x[24];
    float x32[24] = {0};
    int64_t status[4];
    for (int k = 0; k < 24; ++k) x[k] = k;
    bandmill_batch_factor_t *factor = NULL, *single = NULL, *copy = NULL;
    REFUSED(bandmill_batch_factor_f64(4, d, shape, open, cpu, 0, NULL, &factor), invalid, "4 diagonals");
    REFUSED(bandmill_batch_factor_f64(-1, d, shape, open, cpu, 0, NULL, &factor), invalid, "-1 diagonals");
    REFUSED(bandmill_batch_factor_f64(3, NULL, shape, open, cpu, 0, NULL, &factor), invalid, "diagonals is NULL");
    REFUSED(bandmill_batch_factor_f64(3, holes, shape, open, cpu, 0, NULL, &factor), invalid,
            "the main diagonal is NULL");
    REFUSED(bandmill_batch_factor_f64(3, d, bandmill_interleaved(0, 4), open, cpu, 0, NULL, &factor), invalid,
            "0 rows");
    REFUSED(bandmill_batch_factor_f64(3, d, bandmill_interleaved(6, -4), open, cpu, 0, NULL, &factor), invalid, "-4");
    REFUSED(bandmill_batch_factor_f64(3, d, shape, 7, cpu, 0, NULL, &factor), invalid, "boundary 7");
    REFUSED(bandmill_batch_factor_f64(3, d, shape, open, -3, 0, NULL, &factor), invalid, "no place -3");
    REFUSED(bandmill_batch_factor_f64(3, d, shape, open, 1000, 0, NULL, &factor), BANDMILL_BACKEND_UNAVAILABLE, "");
    REFUSED(bandmill_batch_factor_f64(3, d, shape, open, cpu, -1, NULL, &factor), invalid, "-1 threads");
    REFUSED(bandmill_batch_factor_f64(3, d, shape, open, cpu, 0, x, &factor), invalid, "stream");
    REFUSED(bandmill_batch_factor_f64(3, d, shape, open, cpu, 0, NULL, NULL), invalid, "NULL");
    CHECK(factor == NULL);

    OK(bandmill_batch_factor_f64(3, d, shape, open, cpu, 0, NULL, &factor));
    OK(bandmill_batch_factor_f32(3, d32, shape, open, cpu, 0, NULL, &single));
    REFUSED(bandmill_batch_factor_status(NULL, status, NULL), invalid, "factor is NULL");
    REFUSED(bandmill_batch_factor_status(factor, NULL, NULL), invalid, "status is NULL");
    REFUSED(bandmill_batch_factor_status(factor, status, x), invalid, "stream");
    REFUSED(bandmill_batch_factor_report(NULL, NULL), invalid, "factor is NULL");
    REFUSED(bandmill_batch_factor_report(factor, NULL), invalid, "report is NULL");
    REFUSED(bandmill_batch_factor_copy(NULL, &copy), invalid, "factor is NULL");
    REFUSED(bandmill_batch_solve_f64(NULL, b, shape, x, shape, 0, NULL), invalid, "factor is NULL");
    REFUSED(bandmill_batch_solve_f64(single, b, shape, x, shape, 0, NULL), invalid, "not f64");
    REFUSED(bandmill_batch_solve_f32(factor, x32, shape, x32, shape, 0, NULL), invalid, "not f32");
    REFUSED(bandmill_batch_solve_f64(factor, b, other, x, other, 0, NULL), invalid, "3 systems");
    REFUSED(bandmill_batch_solve_f64(factor, NULL, shape, x, shape, 0, NULL), invalid, "the right-hand side is NULL");
    REFUSED(bandmill_batch_solve_f64(factor, x, shape, x + 1, shape, 0, NULL), invalid, "overlap");
    REFUSED(bandmill_batch_solve_f64(factor, b, shape, x, shape, 0, x), invalid, "stream");
    bandmill_batch_factor_destroy(factor);
    bandmill_batch_factor_destroy(single);
    bandmill_batch_factor_destroy(NULL);

    bandmill_workspace_t *workspace = NULL, *small = NULL;
    REFUSED(bandmill_workspace_create(2, 6, 4, open, 64, cpu, 0, &workspace), invalid, "2 diagonals");
    REFUSED(bandmill_workspace_create(3, 0, 4, open, 64, cpu, 0, &workspace), invalid, "0 rows");
    REFUSED(bandmill_workspace_create(3, 6, -1, open, 64, cpu, 0, &workspace), invalid, "-1 matrices");
    REFUSED(bandmill_workspace_create(3, 6, 4, 9, 64, cpu, 0, &workspace), invalid, "boundary 9");
    REFUSED(bandmill_workspace_create(3, 6, 4, open, 16, cpu, 0, &workspace), invalid, "precision 16");
    REFUSED(bandmill_workspace_create(3, 6, 4, open, 64, -2, 0, &workspace), invalid, "no place -2");
    REFUSED(bandmill_workspace_create(3, 6, 4, open, 64, cpu, -2, &workspace), invalid, "-2 threads");
    REFUSED(bandmill_workspace_create(3, 6, 4, open, 64, cpu, 0, NULL), invalid, "NULL");
    OK(bandmill_workspace_create(3, 6, 4, open, BANDMILL_F64, cpu, 0, &workspace));
    OK(bandmill_workspace_create(3, 6, 3, open, BANDMILL_F64, cpu, 0, &small));
#define ONCE(diagonals, to, status_list, space)                                                                        \
    bandmill_batch_solve_once_f64(3, diagonals, shape, open, b, shape, to, shape, status_list, space, 0, NULL)
    REFUSED(ONCE(d, x, status, NULL), invalid, "workspace is NULL");
    REFUSED(ONCE(d, x, status, small), invalid, "workspace was made for 3 systems");
    REFUSED(ONCE(d, x, NULL, workspace), invalid, "the status is NULL");
    REFUSED(ONCE(d, NULL, status, workspace), invalid, "the solution is NULL");
    REFUSED(ONCE(NULL, x, status, workspace), invalid, "diagonals is NULL");
    REFUSED(ONCE(d, systems.diagonals[1], status, workspace), invalid, "overlaps diagonal 1");
    REFUSED(ONCE(d, x, (int64_t*)x, workspace), invalid, "status overlaps the solution");
#undef ONCE
    REFUSED(bandmill_batch_solve_once_f32(3, d32, shape, open, x32, shape, x32, shape, status, workspace, 0, NULL),
            invalid, "workspace is not f32");
    bandmill_workspace_destroy(workspace);
    bandmill_workspace_destroy(small);
    bandmill_workspace_destroy(NULL);
    for (int k = 0; k < 24; ++k) CHECK(x[k] == k);
}

int main(int argc, char** argv) {
    const int place = place_from_arguments(argc, argv);
    every_shape(place);
    a_bad_matrix_spoils_only_its_system(place);
    if (place == BANDMILL_CPU) wrong_input();
    return finish();
}
