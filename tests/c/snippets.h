/* What the blocks of docs/c.md may use: each is the body of a function. Those about a GPU ask for one themselves. */
#include <bandmill/c/bandmill.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { n = 256, batch = 3 };
static double lower[n], diagonal[n], upper[n], b[n * batch], x[n * batch];
static double lowers[n * batch], mains[n * batch], uppers[n * batch];
static const double weights[3] = {-1, 4, -1};
static bandmill_factor_t* factor;
static bandmill_shape shape;

static void prepare(void) {
    shape = bandmill_interleaved(n, batch);
    for (int i = 0; i < n; ++i) lower[i] = upper[i] = -1, diagonal[i] = 4;
    for (int i = 0; i < n * batch; ++i) lowers[i] = uppers[i] = -1, mains[i] = 4, b[i] = 1, x[i] = NAN;
}

/* The one block that shows an error shows that of a singular matrix. All others that write leave numbers in x. */
static int inspect(const char* name) {
    const char* error = bandmill_last_error();
    int wrong = strstr(error, "singular") == NULL && error[0] != '\0';
    if (!isnan(x[0]))
        for (int i = 0; i < n * batch; ++i) wrong |= !isfinite(x[i]);
    if (wrong) fprintf(stderr, "%s: %s, x[0] = %g\n", name, error, x[0]);
    bandmill_factor_destroy(factor);
    factor = NULL;
    return wrong;
}
