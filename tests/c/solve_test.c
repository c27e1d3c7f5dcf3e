/* Solves through the C interface, against a dense solver: widths, boundaries, precisions, layouts, places. */
#include "checking.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 5, ROOM = 4 * LARGEST * (BATCH + 3) };

static int64_t position(bandmill_shape shape, int64_t row, int64_t system) {
    const int64_t tile = shape.tile > 0 ? shape.tile : BATCH;
    return row * shape.row_stride + system % tile * shape.batch_stride + system / tile * shape.tile_stride;
}

/* Solves the systems of b, with the right-hand sides of one shape and the solutions of another, at a place. What the
 * shapes do not reach must stay as it is. `x` takes row i of system m at [m * rows + i]. */
static void solve_at(int place, const bandmill_factor_t* factor, int precision, const double* b, bandmill_shape in,
                     bandmill_shape out, int in_place, double* x) {
    static double in_f64[ROOM], out_f64[ROOM];
    static float in_f32[ROOM], out_f32[ROOM];
    const int64_t rows = in.rows;
    for (int64_t k = 0; k < ROOM; ++k) in_f64[k] = out_f64[k] = -7;
    for (int64_t m = 0; m < BATCH; ++m)
        for (int64_t i = 0; i < rows; ++i) in_f64[position(in, i, m)] = b[m * rows + i];
    for (int64_t k = 0; k < ROOM; ++k) in_f32[k] = (float)in_f64[k], out_f32[k] = (float)out_f64[k];
    const int64_t bytes = precision == BANDMILL_F64 ? sizeof in_f64 : sizeof in_f32;
    void* from = put(place, precision == BANDMILL_F64 ? (void*)in_f64 : (void*)in_f32, bytes);
    void* to = in_place ? from : put(place, precision == BANDMILL_F64 ? (void*)out_f64 : (void*)out_f32, bytes);
    if (precision == BANDMILL_F64)
        OK(bandmill_solve_f64(factor, from, in, to, out, 0, NULL));
    else
        OK(bandmill_solve_f32(factor, from, in, to, out, 0, NULL));
    OK(bandmill_synchronize(place, NULL));
    get(place, precision == BANDMILL_F64 ? (void*)out_f64 : (void*)out_f32, to, bytes);
    if (!in_place) bandmill_release(place, from);
    if (precision == BANDMILL_F32)
        for (int64_t k = 0; k < ROOM; ++k) out_f64[k] = out_f32[k];
    for (int64_t m = 0; m < BATCH; ++m)
        for (int64_t i = 0; i < rows; ++i) {
            x[m * rows + i] = out_f64[position(out, i, m)];
            out_f64[position(out, i, m)] = -7;
        }
    int64_t touched = 0;
    for (int64_t k = 0; k < ROOM; ++k) touched += out_f64[k] != -7;
    CHECK(touched == 0);
}

/* Rows of dominant matrices sum to at least 1 in size, so |x| is at most |b| and a few roundings are a few epsilons. */
static void compare(const Bands* bands, const double* b, const double* x, double epsilon) {
    double expected[LARGEST], worst = 0;
    for (int64_t m = 0; m < BATCH; ++m) {
        solve_dense(bands, b + m * bands->rows, expected);
        for (int64_t i = 0; i < bands->rows; ++i) worst = fmax(worst, fabs(x[m * bands->rows + i] - expected[i]));
    }
    CHECK(worst <= 8 * epsilon);
}

static void every_matrix_and_layout(int place) {
    const int64_t sizes[] = {1, 2, 3, 4, 5, 8, 33, LARGEST};
    static double b[LARGEST * BATCH], x[LARGEST * BATCH];
    for (int width = 1; width <= 2; ++width)
        for (int periodic = 0; periodic <= 1; ++periodic)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; ++s)
                for (int precision = BANDMILL_F32; precision <= BANDMILL_F64; precision += 32) {
                    const int64_t n = sizes[s];
                    const double epsilon = precision == BANDMILL_F64 ? DBL_EPSILON : FLT_EPSILON;
                    const Bands bands = random_bands(n, width, periodic);
                    for (int64_t k = 0; k < n * BATCH; ++k) b[k] = (float)random_number();
                    bandmill_factor_t* factor = NULL;
                    OK(factor_bands(&bands, precision, place, &factor));
                    const bandmill_shape shapes[] = {
                        bandmill_interleaved(n, BATCH), bandmill_contiguous(n, BATCH), bandmill_tiled(n, BATCH, 2),
                        bandmill_strided(n, BATCH, BATCH + 3, 1), bandmill_strided(n, BATCH, 2, 2 * n + 1)};
                    for (int in = 0; in < 5; ++in)
                        for (int out = 0; out < 5; ++out) {
                            solve_at(place, factor, precision, b, shapes[in], shapes[out], in == out, x);
                            compare(&bands, b, x, epsilon);
                        }
                    bandmill_factor_destroy(factor);
                }
}

static void constant_diagonals_are_those_of_a_general_matrix(int place) {
    const double weights[] = {0.3, -1.25, 4, -0.75, 0.5};
    const int64_t n = 20;
    static double b[LARGEST * BATCH], x[LARGEST * BATCH], y[LARGEST * BATCH];
    for (int count = 3; count <= 5; count += 2) {
        const double* used = weights + (5 - count) / 2;
        Bands bands = random_bands(n, count / 2, 1);
        for (int d = 0; d < count; ++d)
            for (int64_t i = 0; i < n; ++i) bands.entry[d][i] = used[d];
        bandmill_factor_t *constant = NULL, *general = NULL;
        OK(bandmill_factor_toeplitz(n, count, used, BANDMILL_PERIODIC, BANDMILL_F64, place, &constant));
        OK(factor_bands(&bands, BANDMILL_F64, place, &general));
        for (int64_t k = 0; k < n * BATCH; ++k) b[k] = random_number();
        const bandmill_shape shape = bandmill_interleaved(n, BATCH);
        solve_at(place, constant, BANDMILL_F64, b, shape, shape, 1, x);
        solve_at(place, general, BANDMILL_F64, b, shape, shape, 1, y);
        CHECK(memcmp(x, y, sizeof(double) * (size_t)(n * BATCH)) == 0);
        bandmill_factor_destroy(constant);
        bandmill_factor_destroy(general);
    }
}

static void negative_strides_read_backwards(void) {
    const int64_t n = 12;
    const Bands bands = random_bands(n, 1, 0);
    double b[12], x[12], backwards[12];
    for (int64_t i = 0; i < n; ++i) b[i] = random_number(), backwards[n - 1 - i] = b[i];
    bandmill_factor_t* factor = NULL;
    OK(factor_bands(&bands, BANDMILL_F64, BANDMILL_CPU, &factor));
    const bandmill_shape forward = bandmill_contiguous(n, 1), back = bandmill_strided(n, 1, -1, 0);
    OK(bandmill_solve_f64(factor, backwards + n - 1, back, x, forward, 1, NULL));
    OK(bandmill_solve_f64(factor, b, forward, b, forward, 1, NULL));
    CHECK(memcmp(x, b, sizeof x) == 0);
    bandmill_factor_destroy(factor);
}

static void a_copy_outlives_the_original(int place) {
    const Bands bands = random_bands(10, 1, 1);
    static double b[10 * BATCH], x[10 * BATCH];
    for (int k = 0; k < 10 * BATCH; ++k) b[k] = random_number();
    bandmill_factor_t *factor = NULL, *copy = NULL;
    OK(factor_bands(&bands, BANDMILL_F64, place, &factor));
    OK(bandmill_factor_copy(factor, &copy));
    bandmill_factor_destroy(factor);
    const bandmill_shape shape = bandmill_contiguous(10, BATCH);
    solve_at(place, copy, BANDMILL_F64, b, shape, shape, 0, x);
    compare(&bands, b, x, DBL_EPSILON);
    bandmill_factor_destroy(copy);
}

static void numbers_are_counted(int place) {
    const double weights[] = {-1, 4, -1};
    bandmill_factor_t* factor = NULL;
    int64_t first = -1, second = -1;
    OK(bandmill_factor_toeplitz(9, 3, weights, BANDMILL_OPEN, BANDMILL_F64, place, &factor));
    OK(bandmill_factor_number(factor, &first));
    CHECK(first > 0 && bandmill_numbered(first) == factor);
    bandmill_number_share(first);
    bandmill_number_release(first);
    CHECK(bandmill_numbered(first) == factor);
    bandmill_number_release(first);
    CHECK(bandmill_numbered(first) == NULL);
    bandmill_number_release(first); /* once too often, or never given: nothing happens */
    bandmill_number_share(first);
    bandmill_number_release(0);
    CHECK(bandmill_numbered(0) == NULL && bandmill_numbered(-5) == NULL && bandmill_numbered(first) == NULL);
    OK(bandmill_factor_toeplitz(9, 3, weights, BANDMILL_OPEN, BANDMILL_F64, place, &factor));
    OK(bandmill_factor_number(factor, &second));
    CHECK(second > first);
    bandmill_number_release(second);
    CHECK(bandmill_factor_number(NULL, &second) == BANDMILL_INVALID_ARGUMENT);
    CHECK(bandmill_batch_factor_number(NULL, &second) == BANDMILL_INVALID_ARGUMENT);
    OK(bandmill_factor_toeplitz(9, 3, weights, BANDMILL_OPEN, BANDMILL_F64, place, &factor));
    CHECK(bandmill_factor_number(factor, NULL) == BANDMILL_INVALID_ARGUMENT); /* and it is destroyed */
}

static void reports(int place) {
    const double needs_exchanges[] = {1, 1e-13, 1}, stiff[] = {1, -4, 7, -4, 1};
    bandmill_factor_t* factor = NULL;
    bandmill_report report;
    OK(bandmill_factor_toeplitz(101, 3, needs_exchanges, BANDMILL_PERIODIC, BANDMILL_F32, place, &factor));
    OK(bandmill_factor_report(factor, &report));
    CHECK(report.rows == 101 && report.half_bandwidth == 1 && report.boundary == BANDMILL_PERIODIC);
    CHECK(report.precision == BANDMILL_F32 && report.place == place && report.path == BANDMILL_PATH_PIVOTED);
    CHECK(report.pivot_growth >= 1 && report.backward_error < 8 && report.bytes >= 101 * 4);
    bandmill_factor_destroy(factor);
    OK(bandmill_factor_toeplitz(100, 5, stiff, BANDMILL_OPEN, BANDMILL_F64, place, &factor));
    OK(bandmill_factor_report(factor, &report));
    CHECK(report.half_bandwidth == 2 && report.boundary == BANDMILL_OPEN && report.precision == BANDMILL_F64);
    CHECK(report.path == (place == BANDMILL_CPU ? BANDMILL_PATH_SEQUENTIAL : BANDMILL_PATH_PARTITIONED));
    CHECK(report.workspace_bytes_per_system == 0);
    bandmill_factor_destroy(factor);
}

static void memory_comes_and_goes(int place) {
    const char text[] = "what was put there";
    char back[sizeof text] = "";
    get(place, back, put(place, text, sizeof text), sizeof text);
    CHECK(strcmp(text, back) == 0);
    void* nothing = back;
    OK(bandmill_allocate(place, 0, &nothing));
    CHECK(nothing == NULL);
    OK(bandmill_copy_to(place, NULL, NULL, 0));
    OK(bandmill_copy_from(place, NULL, NULL, 0));
    bandmill_release(place, NULL);
}

int main(int argc, char** argv) {
    const int place = place_from_arguments(argc, argv);
    every_matrix_and_layout(place);
    constant_diagonals_are_those_of_a_general_matrix(place);
    negative_strides_read_backwards();
    a_copy_outlives_the_original(place);
    numbers_are_counted(place);
    reports(place);
    memory_comes_and_goes(place);
    return finish();
}
