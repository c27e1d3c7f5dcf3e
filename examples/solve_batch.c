/* The smallest complete use from C: one matrix, many right-hand sides, on the GPU if there is one.
 *     solve_batch_c [rows] [systems]
 */
#include <bandmill/c/bandmill.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int status) {
    if (status == BANDMILL_OK) return;
    fprintf(stderr, "solve_batch: %s\n", bandmill_last_error());
    exit(1);
}

/* -1 for what is no whole number. */
static int64_t number(const char* text) {
    char* end;
    const long long value = strtoll(text, &end, 10);
    return end != text && *end == '\0' ? value : -1;
}

int main(int argc, char** argv) {
    const int64_t rows = argc > 1 ? number(argv[1]) : 1000, systems = argc > 2 ? number(argv[2]) : 10000;
    const int place = bandmill_device_count() > 0 ? 0 : BANDMILL_CPU;
    if (rows < 1 || systems < 1 || rows > INT64_MAX / 8 / systems) {
        fprintf(stderr, "usage: solve_batch_c [rows] [systems], one or more of each and as many as fit in memory\n");
        return 2;
    }

    /* A x = b with A = tridiag(-1, 4, -1), periodic, factored once. */
    const double weights[3] = {-1, 4, -1};
    bandmill_factor_t* factor = NULL;
    must(bandmill_factor_toeplitz(rows, 3, weights, BANDMILL_PERIODIC, BANDMILL_F64, place, &factor));

    /* Systems stand side by side: row i of system m is x[i * systems + m]. Here b = m + 1 in all rows. */
    const int64_t bytes = rows * systems * (int64_t)sizeof(double);
    double* x = malloc((size_t)bytes);
    if (x == NULL) {
        fprintf(stderr, "solve_batch: no memory for %lld systems of %lld rows\n", (long long)systems, (long long)rows);
        return 1;
    }
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t m = 0; m < systems; ++m) x[i * systems + m] = (double)(m + 1);

    /* On the CPU bandmill_allocate gives memory of the host, so this is the same program for both. */
    void* data = NULL;
    const bandmill_shape shape = bandmill_interleaved(rows, systems);
    must(bandmill_allocate(place, bytes, &data));
    must(bandmill_copy_to(place, data, x, bytes));
    must(bandmill_solve_f64(factor, data, shape, data, shape, 0, NULL)); /* in place, all threads, default stream */
    must(bandmill_copy_from(place, x, data, bytes));

    double worst = 0; /* rows sum to 2, so all unknowns of system m are (m + 1) / 2 */
    for (int64_t i = 0; i < rows; ++i)
        for (int64_t m = 0; m < systems; ++m) {
            const double error = fabs(2 * x[i * systems + m] / (double)(m + 1) - 1);
            if (error > worst || isnan(error)) worst = error;
        }
    printf("%lld systems of %lld rows solved on the %s; largest relative error %.1e\n", (long long)systems,
           (long long)rows, place == BANDMILL_CPU ? "CPU" : "GPU", worst);

    bandmill_release(place, data);
    bandmill_factor_destroy(factor);
    free(x);
    return worst < 1e-14 ? 0 : 1;
}
