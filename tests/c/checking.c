#include "checking.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

void check(int condition, const char* what, const char* file, int line) {
    if (condition) return;
    ++failures;
    fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
}

void refused(int found, int status, const char* part, const char* what, const char* file, int line) {
    if (found == status && (status == BANDMILL_OK || strstr(bandmill_last_error(), part) != NULL)) return;
    ++failures;
    fprintf(stderr, "%s:%d: %s\n  is '%s', should be '%s'; the text is '%s', should have '%s'\n", file, line, what,
            bandmill_status_name(found), bandmill_status_name(status), bandmill_last_error(), part);
}

int finish(void) {
    if (failures > 0) fprintf(stderr, "%d checks failed\n", failures);
    return failures > 0;
}

int place_from_arguments(int argc, char** argv) {
    if (argc < 2 || strcmp(argv[1], "gpu") != 0) return BANDMILL_CPU;
    if (bandmill_device_count() == 0) {
        printf("skipped: no GPU\n");
        exit(SKIPPED);
    }
    return 0;
}

double random_number(void) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 4503599627370496.0 - 1.0; /* 2^52 */
}

Bands random_bands(int64_t rows, int width, int periodic) {
    Bands bands;
    memset(&bands, 0, sizeof bands);
    bands.width = width;
    bands.periodic = periodic;
    bands.rows = rows;
    for (int d = 0; d < 2 * width + 1; ++d)
        for (int64_t i = 0; i < rows; ++i) bands.entry[d][i] = random_number() + (d == width ? 2 * width + 2 : 0);
    return bands;
}

int factor_bands(const Bands* bands, int precision, int place, bandmill_factor_t** factor) {
    const double(*entry)[LARGEST] = bands->entry;
    const int boundary = bands->periodic ? BANDMILL_PERIODIC : BANDMILL_OPEN;
    if (bands->width == 1)
        return bandmill_factor_tridiagonal(bands->rows, entry[0], entry[1], entry[2], boundary, precision, place,
                                           factor);
    return bandmill_factor_pentadiagonal(bands->rows, entry[0], entry[1], entry[2], entry[3], entry[4], boundary,
                                         precision, place, factor);
}

static void make_dense(const Bands* bands, long double a[LARGEST][LARGEST]) {
    const int64_t n = bands->rows;
    memset(a, 0, sizeof(long double) * LARGEST * LARGEST);
    for (int64_t i = 0; i < n; ++i)
        for (int k = -bands->width; k <= bands->width; ++k) {
            const int64_t j = i + k;
            if (bands->periodic)
                a[i][((j % n) + n) % n] += bands->entry[k + bands->width][i];
            else if (j >= 0 && j < n)
                a[i][j] = bands->entry[k + bands->width][i];
        }
}

void solve_dense(const Bands* bands, const double* b, double* x) {
    static long double a[LARGEST][LARGEST], y[LARGEST];
    const int64_t n = bands->rows;
    make_dense(bands, a);
    for (int64_t i = 0; i < n; ++i) y[i] = b[i];
    for (int64_t k = 0; k < n; ++k) {
        int64_t best = k;
        for (int64_t i = k + 1; i < n; ++i)
            if (fabsl(a[i][k]) > fabsl(a[best][k])) best = i;
        for (int64_t j = 0; j < n; ++j) {
            const long double kept = a[k][j];
            a[k][j] = a[best][j], a[best][j] = kept;
        }
        const long double kept = y[k];
        y[k] = y[best], y[best] = kept;
        for (int64_t i = k + 1; i < n; ++i) {
            const long double ratio = a[i][k] / a[k][k];
            for (int64_t j = k; j < n; ++j) a[i][j] -= ratio * a[k][j];
            y[i] -= ratio * y[k];
        }
    }
    for (int64_t i = n; i-- > 0;) {
        for (int64_t j = i + 1; j < n; ++j) y[i] -= a[i][j] * y[j];
        y[i] /= a[i][i];
        x[i] = (double)y[i];
    }
}

void multiply_dense(const Bands* bands, const double* x, double* b) {
    static long double a[LARGEST][LARGEST];
    make_dense(bands, a);
    for (int64_t i = 0; i < bands->rows; ++i) {
        long double sum = 0;
        for (int64_t j = 0; j < bands->rows; ++j) sum += a[i][j] * x[j];
        b[i] = (double)sum;
    }
}

void* put(int place, const void* from, int64_t bytes) {
    void* memory = NULL;
    OK(bandmill_allocate(place, bytes, &memory));
    OK(bandmill_copy_to(place, memory, from, bytes));
    return memory;
}

void get(int place, void* to, void* memory, int64_t bytes) {
    OK(bandmill_copy_from(place, to, memory, bytes));
    bandmill_release(place, memory);
}
