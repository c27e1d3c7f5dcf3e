/* What the tests of the C interface share: checks, random numbers, matrices and a dense solver in long double that has
 * nothing in common with the library. */
#ifndef CHECKING_H
#define CHECKING_H

#include <bandmill/c/bandmill.h>

#include <stdint.h>

#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)
/* The call fails with this status, and its text has this part. */
#define REFUSED(call, status, part) refused((call), (status), (part), #call, __FILE__, __LINE__)
#define OK(call) REFUSED(call, BANDMILL_OK, "")

void check(int condition, const char* what, const char* file, int line);
void refused(int found, int status, const char* part, const char* what, const char* file, int line);
int finish(void); /* the exit status: 1 if a check failed */

enum { SKIPPED = 77 };
/* "cpu" or "gpu"; ends the program with SKIPPED where there is no GPU. */
int place_from_arguments(int argc, char** argv);

double random_number(void); /* in -1 .. 1, the same sequence every time */

enum { LARGEST = 64 }; /* rows of a matrix of these tests */

/* 2 W + 1 diagonals indexed by row, the lowest first. */
typedef struct Bands {
    int width, periodic;
    int64_t rows;
    double entry[5][LARGEST];
} Bands;

Bands random_bands(int64_t rows, int width, int periodic); /* diagonally dominant */
int factor_bands(const Bands* bands, int precision, int place, bandmill_factor_t** factor);
void solve_dense(const Bands* bands, const double* b, double* x);
void multiply_dense(const Bands* bands, const double* x, double* b);

/* A copy of host memory at a place, and back again. */
void* put(int place, const void* from, int64_t bytes);
void get(int place, void* to, void* memory, int64_t bytes); /* releases it */

#endif
