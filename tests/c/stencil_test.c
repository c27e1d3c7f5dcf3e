/* Stencils through the C interface: against sums written out, and wrong input. */
#include "checking.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { ROWS = 7, COLUMNS = 9, PLANES = 3, POINTS = ROWS * COLUMNS, ROOM = POINTS * PLANES };

static const double patch[6] = {0.5, -1, 2, 0.25, 3, -0.75}; /* 2 rows of 3 */
static const bandmill_stencil stencil = {2, 3, 1, 1, patch};
static const double line[4] = {1, -3, 0.5, 2};
static const bandmill_stencil along = {1, 4, 0, 1, line};

/* What stands at index i of an axis of n points: the index of a point, or -1 for one that is not there. */
static int64_t beyond(int kind, int64_t i, int64_t n) {
    if (i >= 0 && i < n) return i;
    if (kind == BANDMILL_EDGES_PERIODIC) return ((i % n) + n) % n;
    if (kind == BANDMILL_EDGES_EVEN) return i < 0 ? -1 - i : 2 * n - 1 - i;
    if (kind == BANDMILL_EDGES_EVEN_AT_POINT) return i < 0 ? -i : 2 * n - 2 - i;
    return -1;
}

/* The sum at one point. `sign` turns over what lies beyond the ends along x, for the odd kinds, whose value is `end`;
 * *whole becomes 0 where a neighbour does not exist. */
static double expected(const bandmill_stencil* s, const double* in, int64_t y, int64_t x, int kind, double end,
                       int* whole) {
    double sum = 0;
    *whole = 1;
    for (int64_t r = 0; r < s->rows; ++r)
        for (int64_t c = 0; c < s->columns; ++c) {
            const int64_t at = x + c - s->left, row = beyond(BANDMILL_EDGES_PERIODIC, y + r - s->up, ROWS);
            const int outside = at < 0 || at >= COLUMNS;
            int even = kind;
            if (kind == BANDMILL_EDGES_ODD) even = BANDMILL_EDGES_EVEN;
            if (kind == BANDMILL_EDGES_ODD_AT_POINT) even = BANDMILL_EDGES_EVEN_AT_POINT;
            const int64_t column = beyond(even, at, COLUMNS);
            double value = column >= 0 ? in[row * COLUMNS + column] : 0;
            if (outside && kind == BANDMILL_EDGES_CONSTANT) value = end;
            if (outside && even != kind) value = 2 * end - value;
            if (outside && kind == BANDMILL_EDGES_LEAVE) *whole = 0;
            sum += s->weights[r * s->columns + c] * value;
        }
    return sum;
}

static void planes_with_every_kind_of_edges(int place) {
    static double in[ROOM], out[ROOM];
    static float in_f32[ROOM], out_f32[ROOM];
    const bandmill_planes shape = bandmill_row_by_row(ROWS, COLUMNS, PLANES);
    const bandmill_edges around = {BANDMILL_EDGES_PERIODIC, 0, 0};
    for (int k = 0; k < ROOM; ++k) in[k] = in_f32[k] = (float)random_number();
    for (int kind = BANDMILL_EDGES_LEAVE; kind <= BANDMILL_EDGES_ODD_AT_POINT; ++kind)
        for (int into = BANDMILL_REPLACE; into <= BANDMILL_ADD; ++into) {
            const bandmill_edges edges = {kind, 0.5, 0.5};
            for (int k = 0; k < ROOM; ++k) out[k] = out_f32[k] = 100;
            void *from = put(place, in, sizeof in), *to = put(place, out, sizeof out);
            void *from_f32 = put(place, in_f32, sizeof in_f32), *to_f32 = put(place, out_f32, sizeof out_f32);
            OK(bandmill_apply_planes_f64(&stencil, from, shape, to, shape, edges, around, into, place, 0, NULL));
            OK(bandmill_apply_planes_f32(&stencil, from_f32, shape, to_f32, shape, edges, around, into, place, 0,
                                         NULL));
            OK(bandmill_synchronize(place, NULL));
            get(place, out, to, sizeof out);
            get(place, out_f32, to_f32, sizeof out_f32);
            bandmill_release(place, from);
            bandmill_release(place, from_f32);
            for (int64_t m = 0; m < PLANES; ++m)
                for (int64_t y = 0; y < ROWS; ++y)
                    for (int64_t x = 0; x < COLUMNS; ++x) {
                        int whole;
                        const int64_t k = m * POINTS + y * COLUMNS + x;
                        const double sum = expected(&stencil, in + m * POINTS, y, x, kind, 0.5, &whole);
                        const double value = !whole ? 100 : into == BANDMILL_ADD ? 100 + sum : sum;
                        const double size = fabs(value) + 8; /* the weights' sum */
                        CHECK(fabs(out[k] - value) <= 2 * DBL_EPSILON * size);
                        CHECK(fabs(out_f32[k] - value) <= 2 * FLT_EPSILON * size);
                    }
        }
}

/* A batch of systems, interleaved and contiguous, is a batch of planes of one row. */
static void systems_are_planes_of_one_row(int place) {
    static double in[ROOM], out[ROOM], turned[ROOM], other[ROOM];
    static float in_f32[ROOM], out_f32[ROOM];
    const int64_t n = COLUMNS, batch = ROWS * PLANES;
    const bandmill_edges edges = {BANDMILL_EDGES_ODD, 0.5, -0.25};
    for (int64_t m = 0; m < batch; ++m)
        for (int64_t i = 0; i < n; ++i)
            in[m * n + i] = turned[i * batch + m] = in_f32[m * n + i] = (float)random_number();
    void *from = put(place, in, sizeof in), *to = put(place, out, sizeof out);
    const bandmill_shape contiguous = bandmill_contiguous(n, batch), interleaved = bandmill_interleaved(n, batch);
    OK(bandmill_apply_f64(&along, from, contiguous, to, contiguous, edges, BANDMILL_REPLACE, place, 0, NULL));
    OK(bandmill_copy_from(place, out, to, sizeof out));
    OK(bandmill_apply_planes_f64(&along, from, bandmill_row_by_row(1, n, batch), to, bandmill_row_by_row(1, n, batch),
                                 edges, edges, BANDMILL_REPLACE, place, 0, NULL));
    OK(bandmill_copy_from(place, other, to, sizeof other));
    CHECK(memcmp(out, other, sizeof out) == 0);
    OK(bandmill_copy_to(place, from, turned, sizeof turned));
    OK(bandmill_apply_f64(&along, from, interleaved, to, contiguous, edges, BANDMILL_REPLACE, place, 0, NULL));
    OK(bandmill_copy_from(place, other, to, sizeof other));
    CHECK(memcmp(out, other, sizeof out) == 0);
    OK(bandmill_copy_to(place, from, in_f32, sizeof in_f32));
    OK(bandmill_apply_f32(&along, from, contiguous, to, contiguous, edges, BANDMILL_REPLACE, place, 0, NULL));
    get(place, out_f32, to, sizeof out_f32);
    for (int k = 0; k < ROOM; ++k) CHECK(fabs(out_f32[k] - out[k]) <= 16 * FLT_EPSILON);
    bandmill_release(place, from);
}

static void wrong_input(void) {
    const int invalid = BANDMILL_INVALID_ARGUMENT, cpu = BANDMILL_CPU, replace = BANDMILL_REPLACE;
    const bandmill_edges around = {BANDMILL_EDGES_PERIODIC, 0, 0}, unknown = {7, 0, 0};
    const bandmill_edges infinite = {BANDMILL_EDGES_CONSTANT, INFINITY, 0}, odd = {BANDMILL_EDGES_ODD_AT_POINT, 0, 0};
    const bandmill_planes shape = bandmill_row_by_row(ROWS, COLUMNS, 1);
    const bandmill_shape systems = bandmill_contiguous(COLUMNS, ROWS);
    static double in[2 * POINTS], out[POINTS];
    static float f32[2 * POINTS];
    memset(in, 0, sizeof in);
    for (int k = 0; k < POINTS; ++k) out[k] = k;
#define PLANES_REFUSED(s, from, from_shape, to, to_shape, x_edges, part)                                               \
    REFUSED(bandmill_apply_planes_f64(s, from, from_shape, to, to_shape, x_edges, around, replace, cpu, 0, NULL),      \
            invalid, part)
    const double bad_weights[3] = {1, NAN, 1};
    const bandmill_stencil no_weights = {1, 3, 0, 1, NULL}, no_rows = {0, 3, 0, 1, line},
                           negative = {1, -3, 0, 1, line}, outside = {1, 3, 0, 3, line},
                           not_finite = {1, 3, 0, 1, bad_weights}, huge = {INT64_MAX, INT64_MAX, 0, 0, line};
    PLANES_REFUSED(NULL, in, shape, out, shape, around, "stencil is NULL");
    PLANES_REFUSED(&no_weights, in, shape, out, shape, around, "weights is NULL");
    PLANES_REFUSED(&no_rows, in, shape, out, shape, around, "0 rows");
    PLANES_REFUSED(&negative, in, shape, out, shape, around, "-3 columns");
    PLANES_REFUSED(&huge, in, shape, out, shape, around, "rows");
    PLANES_REFUSED(&outside, in, shape, out, shape, around, "cannot reach 3 points");
    PLANES_REFUSED(&not_finite, in, shape, out, shape, around, "weight 1");
    PLANES_REFUSED(&stencil, NULL, shape, out, shape, around, "the input is NULL");
    PLANES_REFUSED(&stencil, in, shape, NULL, shape, around, "the output is NULL");
    PLANES_REFUSED(&stencil, in, shape, in + 5, shape, around, "overlap");
    PLANES_REFUSED(&stencil, in, shape, in, shape, around, "overlap");
    PLANES_REFUSED(&stencil, in, bandmill_row_by_row(ROWS, COLUMNS - 1, 1), out, shape, around, "columns");
    PLANES_REFUSED(&stencil, in, shape, out, bandmill_row_by_row(0, COLUMNS, 1), around, "0 rows");
    PLANES_REFUSED(&stencil, in, shape, out, bandmill_row_by_row(INT64_MAX, 3, 1), around, "");
    PLANES_REFUSED(&stencil, in, shape, out, shape, unknown, "kind 7");
    PLANES_REFUSED(&stencil, in, shape, out, shape, infinite, "not finite");
    PLANES_REFUSED(&along, in, bandmill_row_by_row(ROWS, 1, 1), out, bandmill_row_by_row(ROWS, 1, 1), odd, "one point");
#undef PLANES_REFUSED
#define SYSTEMS_REFUSED(s, into, place, threads, stream, status, part)                                                 \
    REFUSED(bandmill_apply_f64(s, in, systems, out, systems, around, into, place, threads, stream), status, part)
    SYSTEMS_REFUSED(&stencil, replace, cpu, 0, NULL, invalid, "");
    SYSTEMS_REFUSED(&along, 2, cpu, 0, NULL, invalid, "way 2");
    SYSTEMS_REFUSED(&along, replace, -2, 0, NULL, invalid, "no place -2");
    SYSTEMS_REFUSED(&along, replace, cpu, -1, NULL, invalid, "-1 threads");
    SYSTEMS_REFUSED(&along, replace, cpu, 0, out, invalid, "stream");
    SYSTEMS_REFUSED(&along, replace, 1000, 0, NULL, BANDMILL_BACKEND_UNAVAILABLE, "");
#undef SYSTEMS_REFUSED
    REFUSED(bandmill_apply_f32(NULL, f32, systems, f32 + POINTS, systems, around, replace, cpu, 0, NULL), invalid,
            "stencil is NULL");
    for (int k = 0; k < POINTS; ++k) CHECK(out[k] == k);
}

int main(int argc, char** argv) {
    const int place = place_from_arguments(argc, argv);
    planes_with_every_kind_of_edges(place);
    systems_are_planes_of_one_row(place);
    if (place == BANDMILL_CPU) wrong_input();
    return finish();
}
