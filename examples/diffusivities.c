/* Matrices of their own, and a stencil, from C: u_t = k u_xx on a periodic grid by Crank-Nicolson, with another k for
 * every run. A wave sin(x) must fade by the scheme's own factor in every step.
 *     diffusivities_c [points] [runs] [steps]
 */
#include <bandmill/c/bandmill.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int status) {
    if (status == BANDMILL_OK) return;
    fprintf(stderr, "diffusivities: %s\n", bandmill_last_error());
    exit(1);
}

/* -1 for what is no whole number. */
static int64_t number(const char* text) {
    char* end;
    const long long value = strtoll(text, &end, 10);
    return end != text && *end == '\0' ? value : -1;
}

int main(int argc, char** argv) {
    const int64_t n = argc > 1 ? number(argv[1]) : 128, runs = argc > 2 ? number(argv[2]) : 500;
    const int64_t wanted = argc > 3 ? number(argv[3]) : 100;
    const int steps = (int)wanted;
    if (n < 3 || runs < 1 || wanted < 0 || wanted > 1000000000 || n > INT64_MAX / 32 / runs) {
        fprintf(stderr, "usage: diffusivities_c [points, from 3 on] [runs] [steps], as many as fit in memory\n");
        return 2;
    }
    const double dx = 8 * atan(1) / (double)n, dt = 0.01;
    const size_t bytes = (size_t)(n * runs) * sizeof(double);
    double *u = malloc(bytes), *difference = malloc(bytes), *off = malloc(bytes), *diagonal = malloc(bytes);
    if (u == NULL || difference == NULL || off == NULL || diagonal == NULL) {
        fprintf(stderr, "diffusivities: no memory for %lld runs of %lld points\n", (long long)runs, (long long)n);
        return 1;
    }

    /* Run m has k = (m + 1) / runs, so the matrix 1 - r/2 D2 with r = k dt / dx^2. Point i of run m is [i * runs + m].
     */
    for (int64_t i = 0; i < n; ++i)
        for (int64_t m = 0; m < runs; ++m) {
            const double r = (double)(m + 1) / (double)runs * dt / (dx * dx);
            off[i * runs + m] = -0.5 * r;
            diagonal[i * runs + m] = 1 + r;
            u[i * runs + m] = sin((double)i * dx);
        }
    const bandmill_shape shape = bandmill_interleaved(n, runs);
    const double* const diagonals[3] = {off, diagonal, off};
    bandmill_batch_factor_t* factor = NULL;
    must(bandmill_batch_factor_f64(3, diagonals, shape, BANDMILL_PERIODIC, BANDMILL_CPU, 0, NULL, &factor));

    const double weights[3] = {1, -2, 1};
    const bandmill_stencil second = {1, 3, 0, 1, weights};
    const bandmill_edges around = {BANDMILL_EDGES_PERIODIC, 0, 0};
    for (int step = 0; step < steps; ++step) {
        must(bandmill_apply_f64(&second, u, shape, difference, shape, around, BANDMILL_REPLACE, BANDMILL_CPU, 0, NULL));
        for (int64_t k = 0; k < n * runs; ++k) u[k] -= off[k] * difference[k];
        must(bandmill_batch_solve_f64(factor, u, shape, u, shape, 0, NULL));
    }

    double worst = 0;
    for (int64_t m = 0; m < runs; ++m) {
        const double half = (1 - cos(dx)) * -2 * off[m]; /* r/2 times the second difference of sin(x) */
        const double factor_of_scheme = pow((1 - half) / (1 + half), steps);
        for (int64_t i = 0; i < n; ++i) {
            const double error = fabs(u[i * runs + m] - factor_of_scheme * sin((double)i * dx));
            if (error > worst || isnan(error)) worst = error;
        }
    }
    printf("%lld runs, %d steps: the fastest fades to %.6f (exactly %.6f); largest error against the scheme %.1e\n",
           (long long)runs, steps, u[n / 4 * runs + runs - 1], exp(-dt * steps) * sin((double)(n / 4) * dx), worst);
    bandmill_batch_factor_destroy(factor);
    free(u), free(difference), free(off), free(diagonal);
    const double rounding = 1e-13 + 1e-14 * dt / (dx * dx); /* off * difference is rounded in units of r */
    if (worst < rounding * fmax(1, steps / 100.0)) return 0;
    fprintf(stderr, "diffusivities: that is more than rounding explains\n");
    return 1;
}
