/* Wrong input through the C interface: every status, what the texts say, and that nothing is written or created. */
#define _POSIX_C_SOURCE 200809L /* pthread.h */
#include "checking.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

static const double ones[8] = {1, 1, 1, 1, 1, 1, 1, 1}, fours[8] = {4, 4, 4, 4, 4, 4, 4, 4};
static const double weights[5] = {1, 1, 6, 1, 1};

static void statuses_have_names(void) {
    CHECK(strcmp(bandmill_status_name(BANDMILL_OK), "ok") == 0);
    CHECK(strcmp(bandmill_status_name(BANDMILL_SINGULAR_MATRIX), "singular matrix") == 0);
    for (int status = BANDMILL_OK; status <= BANDMILL_INTERNAL_ERROR; ++status)
        for (int other = BANDMILL_OK; other < status; ++other)
            CHECK(strcmp(bandmill_status_name(status), bandmill_status_name(other)) != 0);
    CHECK(strcmp(bandmill_status_name(-1), "unknown status") == 0);
    CHECK(strcmp(bandmill_status_name(99), "unknown status") == 0);
}

static int tridiagonal(int64_t rows, int boundary, int precision, int place) {
    bandmill_factor_t* factor = (bandmill_factor_t*)&rows; /* anything but NULL */
    const int status = bandmill_factor_tridiagonal(rows, ones, fours, ones, boundary, precision, place, &factor);
    CHECK((status == BANDMILL_OK) == (factor != NULL));
    bandmill_factor_destroy(factor);
    return status;
}

static int toeplitz(int64_t rows, int count, const double* used, int boundary, int precision) {
    bandmill_factor_t* factor = NULL;
    const int status = bandmill_factor_toeplitz(rows, count, used, boundary, precision, BANDMILL_CPU, &factor);
    CHECK((status == BANDMILL_OK) == (factor != NULL));
    bandmill_factor_destroy(factor);
    return status;
}

static void wrong_matrices(void) {
    const int invalid = BANDMILL_INVALID_ARGUMENT;
    OK(tridiagonal(8, BANDMILL_OPEN, BANDMILL_F64, BANDMILL_CPU));
    REFUSED(tridiagonal(0, BANDMILL_OPEN, BANDMILL_F64, BANDMILL_CPU), invalid, "cannot have 0 rows");
    REFUSED(tridiagonal(-3, BANDMILL_OPEN, BANDMILL_F64, BANDMILL_CPU), invalid, "cannot have -3 rows");
    REFUSED(tridiagonal(INT64_MIN, BANDMILL_OPEN, BANDMILL_F64, BANDMILL_CPU), invalid, "rows");
    REFUSED(tridiagonal(8, 2, BANDMILL_F64, BANDMILL_CPU), invalid, "boundary 2");
    REFUSED(tridiagonal(8, BANDMILL_OPEN, 8, BANDMILL_CPU), invalid, "precision 8");
    REFUSED(tridiagonal(8, BANDMILL_OPEN, BANDMILL_F64, -2), invalid, "no place -2");
    REFUSED(toeplitz(8, 4, weights, BANDMILL_OPEN, BANDMILL_F64), invalid, "4 weights");
    REFUSED(toeplitz(8, -3, weights, BANDMILL_OPEN, BANDMILL_F64), invalid, "-3 weights");
    REFUSED(toeplitz(0, 3, weights, BANDMILL_OPEN, BANDMILL_F64), invalid, "0 rows");
    REFUSED(toeplitz(8, 3, NULL, BANDMILL_OPEN, BANDMILL_F64), invalid, "weights is NULL");
    CHECK(bandmill_last_error_row() == -1);
    REFUSED(toeplitz(INT64_MAX, 5, weights, BANDMILL_OPEN, BANDMILL_F64), BANDMILL_OUT_OF_MEMORY,
            "do not fit in memory");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they stop at such an allocation */
    REFUSED(toeplitz((int64_t)1 << 50, 5, weights, BANDMILL_OPEN, BANDMILL_F64), BANDMILL_OUT_OF_MEMORY, "rows");
    void* memory = NULL;
    REFUSED(bandmill_allocate(BANDMILL_CPU, INT64_MAX - 64, &memory), BANDMILL_OUT_OF_MEMORY, "cannot allocate");
#endif
}

static void null_pointers(void) {
    const int invalid = BANDMILL_INVALID_ARGUMENT, open = BANDMILL_OPEN, f64 = BANDMILL_F64, cpu = BANDMILL_CPU;
    const double* given[5] = {ones, ones, fours, ones, ones};
    const char* names[5] = {"lower diagonal 2", "lower diagonal 1", "main diagonal", "upper diagonal 1",
                            "upper diagonal 2"};
    bandmill_factor_t* factor = NULL;
    REFUSED(bandmill_factor_tridiagonal(8, NULL, fours, ones, open, f64, cpu, &factor), invalid,
            "lower diagonal is NULL");
    REFUSED(bandmill_factor_tridiagonal(8, ones, NULL, ones, open, f64, cpu, &factor), invalid,
            "main diagonal is NULL");
    REFUSED(bandmill_factor_tridiagonal(8, ones, fours, NULL, open, f64, cpu, &factor), invalid,
            "upper diagonal is NULL");
    for (int d = 0; d < 5; ++d) {
        const double* g[5];
        memcpy(g, given, sizeof g);
        g[d] = NULL;
        REFUSED(bandmill_factor_pentadiagonal(8, g[0], g[1], g[2], g[3], g[4], open, f64, cpu, &factor), invalid,
                names[d]);
    }
    REFUSED(bandmill_factor_tridiagonal(8, ones, fours, ones, open, f64, cpu, NULL), invalid, "NULL");
    REFUSED(bandmill_factor_toeplitz(8, 3, weights, open, f64, cpu, NULL), invalid, "NULL");

    double x[8] = {0};
    bandmill_report report;
    const bandmill_shape one = bandmill_contiguous(8, 1);
    REFUSED(bandmill_solve_f64(NULL, x, one, x, one, 0, NULL), invalid, "factor is NULL");
    REFUSED(bandmill_solve_f32(NULL, NULL, one, NULL, one, 0, NULL), invalid, "factor is NULL");
    REFUSED(bandmill_factor_report(NULL, &report), invalid, "factor is NULL");
    REFUSED(bandmill_factor_copy(NULL, &factor), invalid, "factor is NULL");
    OK(bandmill_factor_tridiagonal(8, ones, fours, ones, open, f64, cpu, &factor));
    REFUSED(bandmill_factor_report(factor, NULL), invalid, "report is NULL");
    REFUSED(bandmill_factor_copy(factor, NULL), invalid, "NULL");
    REFUSED(bandmill_solve_f64(factor, NULL, one, x, one, 0, NULL), invalid, "the right-hand side is NULL");
    REFUSED(bandmill_solve_f64(factor, x, one, NULL, one, 0, NULL), invalid, "the solution is NULL");
    OK(bandmill_solve_f64(factor, NULL, bandmill_contiguous(8, 0), NULL, bandmill_contiguous(8, 0), 0, NULL));
    bandmill_factor_destroy(factor);
    bandmill_factor_destroy(NULL);

    REFUSED(bandmill_allocate(cpu, 8, NULL), invalid, "NULL");
    REFUSED(bandmill_copy_to(cpu, NULL, x, 8), invalid, "destination");
    REFUSED(bandmill_copy_to(cpu, x, NULL, 8), invalid, "source");
    REFUSED(bandmill_copy_from(cpu, NULL, x, 8), invalid, "destination");
    REFUSED(bandmill_copy_from(cpu, x, NULL, 8), invalid, "source");
}

static void wrong_memory(void) {
    void* memory = (void*)&memory;
    REFUSED(bandmill_allocate(BANDMILL_CPU, -1, &memory), BANDMILL_INVALID_ARGUMENT, "-1 bytes");
    CHECK(memory == NULL);
    REFUSED(bandmill_allocate(-5, 8, &memory), BANDMILL_INVALID_ARGUMENT, "no place -5");
    REFUSED(bandmill_copy_to(BANDMILL_CPU, NULL, NULL, -8), BANDMILL_INVALID_ARGUMENT, "-8 bytes");
    REFUSED(bandmill_copy_from(-9, NULL, NULL, 0), BANDMILL_INVALID_ARGUMENT, "no place -9");
    REFUSED(bandmill_synchronize(BANDMILL_CPU, &memory), BANDMILL_INVALID_ARGUMENT, "stream");
    bandmill_release(-9, NULL);
}

static void wrong_solves(void) {
    const int invalid = BANDMILL_INVALID_ARGUMENT;
    const int64_t n = 8, batch = 3;
    bandmill_factor_t *factor = NULL, *single = NULL;
    OK(bandmill_factor_tridiagonal(n, ones, fours, ones, BANDMILL_OPEN, BANDMILL_F64, BANDMILL_CPU, &factor));
    OK(bandmill_factor_tridiagonal(n, ones, fours, ones, BANDMILL_OPEN, BANDMILL_F32, BANDMILL_CPU, &single));
    double b[64], x[64], kept[64];
    float b32[64] = {0}, x32[64] = {0};
    for (int k = 0; k < 64; ++k) b[k] = 1 + k, x[k] = kept[k] = -k;
    const bandmill_shape good = bandmill_interleaved(n, batch);
#define REFUSED_SHAPES(in, out, part) REFUSED(bandmill_solve_f64(factor, b, in, x, out, 0, NULL), invalid, part)
    REFUSED_SHAPES(bandmill_interleaved(7, batch), good, "7 rows");
    REFUSED_SHAPES(good, bandmill_interleaved(9, batch), "9 rows");
    REFUSED_SHAPES(bandmill_interleaved(0, batch), good, "0 rows");
    REFUSED_SHAPES(bandmill_interleaved(n, -1), bandmill_interleaved(n, -1), "-1 systems");
    REFUSED_SHAPES(bandmill_interleaved(n, 2), good, "2 systems");
    REFUSED_SHAPES(good, bandmill_strided(n, batch, 1, 1), "overlap");
    REFUSED_SHAPES(good, bandmill_strided(n, batch, 0, 1), "overlap");
    REFUSED_SHAPES(good, bandmill_strided(n, batch, INT64_MAX, 1), "64-bit");
    REFUSED_SHAPES(good, bandmill_tiled(n, batch, 0), "at least one system per tile");
    REFUSED_SHAPES(good, bandmill_tiled(n, batch, -4), "at least one system per tile");
    REFUSED_SHAPES(good, bandmill_tiled(n, batch, INT64_MAX / 2), "64-bit");
#undef REFUSED_SHAPES
    REFUSED(bandmill_solve_f64(factor, b, good, b + 1, good, 0, NULL), invalid, "overlap in memory");
    REFUSED(bandmill_solve_f64(factor, b, good, b, bandmill_contiguous(n, batch), 0, NULL), invalid,
            "overlap in memory");
    REFUSED(bandmill_solve_f64(factor, b, good, (double*)((char*)x + 1), good, 0, NULL), invalid, "aligned");
    REFUSED(bandmill_solve_f64(factor, b, good, x, good, -2, NULL), invalid, "-2 threads");
    REFUSED(bandmill_solve_f64(factor, b, good, x, good, 0, x), invalid, "stream");
    REFUSED(bandmill_solve_f64(single, b, good, x, good, 0, NULL), invalid, "not f64");
    REFUSED(bandmill_solve_f32(factor, b32, good, x32, good, 0, NULL), invalid, "not f32");
    CHECK(memcmp(x, kept, sizeof x) == 0);
    for (int k = 0; k < 64; ++k) CHECK(b[k] == 1 + k && x32[k] == 0);
    OK(bandmill_solve_f64(factor, b, good, x, good, 100, NULL));
    bandmill_factor_destroy(factor);
    bandmill_factor_destroy(single);
}

static void invalid_and_singular_matrices_name_the_row(void) {
    double main[8], zeros[8] = {0};
    bandmill_factor_t* factor = NULL;
    memcpy(main, fours, sizeof main);
    main[5] = NAN;
    REFUSED(bandmill_factor_tridiagonal(8, ones, main, ones, BANDMILL_OPEN, BANDMILL_F64, BANDMILL_CPU, &factor),
            BANDMILL_INVALID_MATRIX, "row 5 on the main diagonal is nan");
    CHECK(bandmill_last_error_row() == 5);
    main[5] = 1e60;
    OK(bandmill_factor_tridiagonal(8, ones, main, ones, BANDMILL_OPEN, BANDMILL_F64, BANDMILL_CPU, &factor));
    bandmill_factor_destroy(factor);
    REFUSED(bandmill_factor_tridiagonal(8, ones, main, ones, BANDMILL_OPEN, BANDMILL_F32, BANDMILL_CPU, &factor),
            BANDMILL_INVALID_MATRIX, "beyond the range of f32");
    CHECK(bandmill_last_error_row() == 5 && factor == NULL);
    main[5] = 0;
    REFUSED(bandmill_factor_tridiagonal(8, zeros, main, zeros, BANDMILL_OPEN, BANDMILL_F64, BANDMILL_CPU, &factor),
            BANDMILL_SINGULAR_MATRIX, "row 5");
    CHECK(bandmill_last_error_row() == 5);
    const double laplace[3] = {-1, 2, -1};
    REFUSED(bandmill_factor_toeplitz(100, 3, laplace, BANDMILL_PERIODIC, BANDMILL_F64, BANDMILL_CPU, &factor),
            BANDMILL_SINGULAR_MATRIX, "singular");
    CHECK(bandmill_last_error_row() >= 0 && bandmill_last_error_row() < 100);
    /* An error without a row forgets that of the last one; a call that succeeds keeps the text. */
    REFUSED(bandmill_factor_report(NULL, NULL), BANDMILL_INVALID_ARGUMENT, "factor is NULL");
    CHECK(bandmill_last_error_row() == -1);
    OK(tridiagonal(8, BANDMILL_OPEN, BANDMILL_F64, BANDMILL_CPU));
    CHECK(strstr(bandmill_last_error(), "factor is NULL") != NULL);
    /* Bindings have errors of their own. */
    CHECK(bandmill_set_last_error(BANDMILL_OUT_OF_MEMORY, "no room") == BANDMILL_OUT_OF_MEMORY);
    CHECK(strcmp(bandmill_last_error(), "no room") == 0 && bandmill_last_error_row() == -1);
    CHECK(bandmill_set_last_error(BANDMILL_INVALID_ARGUMENT, NULL) == BANDMILL_INVALID_ARGUMENT);
    CHECK(strcmp(bandmill_last_error(), "") == 0);
}

static void* other_thread(void* start) {
    CHECK(strcmp(bandmill_last_error(), "") == 0 && bandmill_last_error_row() == -1);
    REFUSED(toeplitz(8, 7, weights, BANDMILL_OPEN, BANDMILL_F64), BANDMILL_INVALID_ARGUMENT, "7 weights");
    return start;
}

static void texts_belong_to_their_threads(void) {
    REFUSED(tridiagonal(-11, BANDMILL_OPEN, BANDMILL_F64, BANDMILL_CPU), BANDMILL_INVALID_ARGUMENT, "-11 rows");
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, other_thread, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(strstr(bandmill_last_error(), "-11 rows") != NULL);
}

static void missing_gpus(void) {
    const int unavailable = BANDMILL_BACKEND_UNAVAILABLE;
    const char* part = bandmill_cuda_built() ? "GPU" : "without CUDA";
    void* memory = NULL;
    double x[8] = {0};
    CHECK(bandmill_cuda_built() == 0 || bandmill_cuda_built() == 1);
    CHECK(bandmill_device_count() >= 0 && (bandmill_cuda_built() || bandmill_device_count() == 0));
    REFUSED(tridiagonal(8, BANDMILL_OPEN, BANDMILL_F64, 1000), unavailable, part);
    REFUSED(bandmill_allocate(1000, 8, &memory), unavailable, part);
    REFUSED(bandmill_copy_to(1000, x, x, 8), unavailable, part);
    REFUSED(bandmill_copy_from(1000, x, x, 8), unavailable, part);
    REFUSED(bandmill_synchronize(1000, NULL), unavailable, part);
}

static void host_memory_is_refused_by_a_gpu(int place) {
    bandmill_factor_t* factor = NULL;
    double host[8] = {0};
    void* device = put(place, host, sizeof host);
    const bandmill_shape one = bandmill_contiguous(8, 1);
    OK(bandmill_factor_tridiagonal(8, ones, fours, ones, BANDMILL_OPEN, BANDMILL_F64, place, &factor));
    /* Where a GPU reads the host's page tables there is nothing to refuse. */
    const int status = bandmill_solve_f64(factor, host, one, device, one, 0, NULL);
    if (status != BANDMILL_OK) REFUSED(status, BANDMILL_INVALID_ARGUMENT, "host memory");
    OK(bandmill_synchronize(place, NULL));
    REFUSED(bandmill_allocate(place, INT64_MAX / 2, &device), BANDMILL_DEVICE_ERROR, "cannot allocate");
    bandmill_factor_destroy(factor);
}

int main(int argc, char** argv) {
    const int place = place_from_arguments(argc, argv);
    CHECK(strcmp(bandmill_last_error(), "") == 0 && bandmill_last_error_row() == -1);
    if (place != BANDMILL_CPU) {
        host_memory_is_refused_by_a_gpu(place);
        return finish();
    }
    CHECK(strchr(bandmill_version(), '.') != NULL);
    statuses_have_names();
    wrong_matrices();
    null_pointers();
    wrong_memory();
    wrong_solves();
    invalid_and_singular_matrices_name_the_row();
    texts_belong_to_their_threads();
    missing_gpus();
    return finish();
}
