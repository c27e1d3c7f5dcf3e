/* bandmill in C99: batches of tridiagonal and pentadiagonal systems, on the CPU and on NVIDIA GPUs.
 *
 * Every function that can fail returns BANDMILL_OK or another status; bandmill_last_error() then says what is wrong,
 * why and what to do. What it was to create is NULL then. No C++ exception leaves the library.
 *
 * A place is a number: BANDMILL_CPU, or a GPU by its CUDA index. Data of a GPU is device memory, from bandmill_allocate
 * or from cudaMalloc. Two arguments say how a call runs: `threads` on the CPU (0: all that there are), `stream` on a
 * GPU (a cudaStream_t; NULL: the default stream). Work on a GPU is put on the stream and not waited for.
 *
 * Functions may be called from any thread. A factor never changes, so any number of them may solve with it at once.
 */
#ifndef BANDMILL_C_BANDMILL_H
#define BANDMILL_C_BANDMILL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Status and errors --- */

enum {
    BANDMILL_OK = 0,
    BANDMILL_INVALID_ARGUMENT = 1,    /* a size, stride, pointer or option that cannot be used */
    BANDMILL_INVALID_MATRIX = 2,      /* an entry that is not finite, or beyond the range of the precision */
    BANDMILL_SINGULAR_MATRIX = 3,     /* no inverse, to the precision of the entries */
    BANDMILL_BACKEND_UNAVAILABLE = 4, /* a GPU that is not there, or a library that was built without CUDA */
    BANDMILL_DEVICE_ERROR = 5,        /* a call of the CUDA runtime failed; also if the GPU's memory is full */
    BANDMILL_OUT_OF_MEMORY = 6,       /* of the host */
    BANDMILL_INTERNAL_ERROR = 7       /* should not happen: please report it */
};

/* "singular matrix" for BANDMILL_SINGULAR_MATRIX, and so on. */
const char* bandmill_status_name(int status);
/* What the last failure on this thread said; "" if there was none. It lasts until the next failure on this thread. */
const char* bandmill_last_error(void);
/* The row of the matrix it is about, counted from 0, for an invalid or a singular matrix; else -1. */
int64_t bandmill_last_error_row(void);
/* For bindings that find errors themselves: this is the last failure on this thread now. Returns the status. */
int bandmill_set_last_error(int status, const char* text);

/* --- The library and its places --- */

enum { BANDMILL_CPU = -1 };

const char* bandmill_version(void); /* "0.1.0" */
int bandmill_cuda_built(void);      /* 1 if the library can use GPUs, else 0 */
int bandmill_device_count(void);    /* GPUs of this machine; 0 without CUDA or without a driver */

/* Memory of a place, for the host 64-byte aligned. 0 bytes are NULL. */
int bandmill_allocate(int place, int64_t bytes, void** memory);
void bandmill_release(int place, void* memory); /* NULL is fine */
/* To and from the memory of a place. These wait until the copy is done. */
int bandmill_copy_to(int place, void* to, const void* from_host, int64_t bytes);
int bandmill_copy_from(int place, void* to_host, const void* from, int64_t bytes);
/* Waits until the work of a stream is done, and says whether it failed. */
int bandmill_synchronize(int place, void* stream);

/* --- Where the elements of a batch stand ---
 * Row i of system m is data[i * row_stride + (m % tile) * batch_stride + (m / tile) * tile_stride]; tile = 0 stands for
 * a batch without tiles. Strides count elements and may be negative. Elements that are not reached are never touched.
 */

typedef struct bandmill_shape {
    int64_t rows, batch;
    int64_t row_stride, batch_stride;
    int64_t tile, tile_stride;
} bandmill_shape;

bandmill_shape bandmill_interleaved(int64_t rows, int64_t batch);          /* [row][system], best on GPUs */
bandmill_shape bandmill_contiguous(int64_t rows, int64_t batch);           /* [system][row] */
bandmill_shape bandmill_tiled(int64_t rows, int64_t batch, int64_t width); /* [tile][row][lane], best on the CPU */
bandmill_shape bandmill_strided(int64_t rows, int64_t batch, int64_t row_stride, int64_t batch_stride);

/* --- One matrix for all systems: factor once, solve as often as wanted ---
 * Diagonals are indexed by row: entry i of diagonal k is A[i, i + k]. Each has `rows` entries, those that an open
 * matrix does not have included, which may hold anything. In a periodic matrix columns wrap around. Entries are double
 * and lie on the host, whatever the precision and the place of the factor.
 */

enum { BANDMILL_OPEN = 0, BANDMILL_PERIODIC = 1 };
enum { BANDMILL_F32 = 32, BANDMILL_F64 = 64 };

typedef struct bandmill_factor_t bandmill_factor_t;

int bandmill_factor_tridiagonal(int64_t rows, const double* lower, const double* diagonal, const double* upper,
                                int boundary, int precision, int place, bandmill_factor_t** factor);
int bandmill_factor_pentadiagonal(int64_t rows, const double* lower2, const double* lower1, const double* diagonal,
                                  const double* upper1, const double* upper2, int boundary, int precision, int place,
                                  bandmill_factor_t** factor);
/* Constant diagonals: 3 or 5 weights, the lowest first. */
int bandmill_factor_toeplitz(int64_t rows, int weight_count, const double* weights, int boundary, int precision,
                             int place, bandmill_factor_t** factor);
/* A second handle of the same factor, at no cost; both have to be destroyed. */
int bandmill_factor_copy(const bandmill_factor_t* factor, bandmill_factor_t** copy);
/* Work on a GPU that uses the factor has to be done. NULL is fine. */
void bandmill_factor_destroy(bandmill_factor_t* factor);

enum { BANDMILL_PATH_PARTITIONED = 0, BANDMILL_PATH_SEQUENTIAL = 1, BANDMILL_PATH_PIVOTED = 2 };

typedef struct bandmill_report {
    int64_t rows;
    int half_bandwidth; /* 1 or 2 */
    int boundary, precision, place;
    int path;                           /* how it solves: one of BANDMILL_PATH_... */
    double pivot_growth;                /* 1 is ideal */
    double backward_error;              /* of probe systems, in units of the precision's epsilon */
    int64_t bytes;                      /* memory held */
    int64_t workspace_bytes_per_system; /* taken beside that by a solve while it runs */
} bandmill_report;

int bandmill_factor_report(const bandmill_factor_t* factor, bandmill_report* report);

/* x = A^-1 b for every system. In place if b and x are the same pointer with the same shape; else they must not
 * overlap. The factor has to be of the same precision. */
int bandmill_solve_f64(const bandmill_factor_t* factor, const double* b, bandmill_shape b_shape, double* x,
                       bandmill_shape x_shape, int threads, void* stream);
int bandmill_solve_f32(const bandmill_factor_t* factor, const float* b, bandmill_shape b_shape, float* x,
                       bandmill_shape x_shape, int threads, void* stream);

/* --- A matrix of its own for every system ---
 * Diagonals are 3 or 5 pointers, the lowest first, to arrays of one shape with one entry per row and system, of the
 * precision of the data and at its place. Elimination is without row exchanges: right for diagonally dominant and for
 * symmetric positive definite matrices. Every system has a status: 0, or 1 + the first row whose pivot cannot be used;
 * the solution of such a system is NaN, and no other one is touched by it.
 */

typedef struct bandmill_batch_factor_t bandmill_batch_factor_t;

/* On a GPU the work is put on the stream: whoever solves on another one has to wait for it. */
int bandmill_batch_factor_f64(int diagonal_count, const double* const* diagonals, bandmill_shape shape, int boundary,
                              int place, int threads, void* stream, bandmill_batch_factor_t** factor);
int bandmill_batch_factor_f32(int diagonal_count, const float* const* diagonals, bandmill_shape shape, int boundary,
                              int place, int threads, void* stream, bandmill_batch_factor_t** factor);
int bandmill_batch_factor_copy(const bandmill_batch_factor_t* factor, bandmill_batch_factor_t** copy);
void bandmill_batch_factor_destroy(bandmill_batch_factor_t* factor);

/* Copies the status of every system to `batch` integers of the host, once the stream it was factored on is done. */
int bandmill_batch_factor_status(const bandmill_batch_factor_t* factor, int64_t* status, void* stream);

typedef struct bandmill_batch_report {
    int64_t rows, batch;
    int half_bandwidth;
    int boundary, precision, place;
    int64_t bytes; /* memory held */
} bandmill_batch_report;

int bandmill_batch_factor_report(const bandmill_batch_factor_t* factor, bandmill_batch_report* report);

int bandmill_batch_solve_f64(const bandmill_batch_factor_t* factor, const double* b, bandmill_shape b_shape, double* x,
                             bandmill_shape x_shape, int threads, void* stream);
int bandmill_batch_solve_f32(const bandmill_batch_factor_t* factor, const float* b, bandmill_shape b_shape, float* x,
                             bandmill_shape x_shape, int threads, void* stream);

/* Matrices that are solved with once: factor and solve in one call, which keeps what it needs in between in a
 * workspace. A workspace serves any number of calls with matrices of its sizes, one at a time (on a GPU: on one
 * stream). */
typedef struct bandmill_workspace_t bandmill_workspace_t;

int bandmill_workspace_create(int diagonal_count, int64_t rows, int64_t batch, int boundary, int precision, int place,
                              int threads, bandmill_workspace_t** workspace);
void bandmill_workspace_destroy(bandmill_workspace_t* workspace);

/* `status` takes `batch` integers at the place of the data, apart from all else. The matrices are left alone. */
int bandmill_batch_solve_once_f64(int diagonal_count, const double* const* diagonals, bandmill_shape shape,
                                  int boundary, const double* b, bandmill_shape b_shape, double* x,
                                  bandmill_shape x_shape, int64_t* status, bandmill_workspace_t* workspace, int threads,
                                  void* stream);
int bandmill_batch_solve_once_f32(int diagonal_count, const float* const* diagonals, bandmill_shape shape, int boundary,
                                  const float* b, bandmill_shape b_shape, float* x, bandmill_shape x_shape,
                                  int64_t* status, bandmill_workspace_t* workspace, int threads, void* stream);

/* --- Factors by number ---
 * For bindings to languages that copy variables without a call. A factor that was given a number belongs to it (also if
 * the call fails: then it is destroyed). It begins with one user, and is destroyed when the last one releases it;
 * numbers are not used again, so that copies which nobody counted find that it is gone.
 */
int bandmill_factor_number(bandmill_factor_t* factor, int64_t* number);
int bandmill_batch_factor_number(bandmill_batch_factor_t* factor, int64_t* number);
void* bandmill_numbered(int64_t number); /* the factor, or NULL if it is gone; 0 is never given */
void bandmill_number_share(int64_t number);
void bandmill_number_release(int64_t number); /* a number whose factor is gone is fine */

/* --- Stencils ---
 * The result at a point (y, x) is the sum of weight[dy, dx] * in(y + dy, x + dx) over a patch of `rows` by `columns`
 * points that begins `up` rows above the point and `left` columns before it. Weights stand row by row, on the host.
 */

typedef struct bandmill_stencil {
    int64_t rows, columns;
    int64_t up, left;
    const double* weights;
} bandmill_stencil;

/* What a stencil finds beyond the ends of an axis. */
enum {
    BANDMILL_EDGES_LEAVE = 0, /* nothing: points whose neighbours do not all exist are not written */
    BANDMILL_EDGES_PERIODIC = 1,
    BANDMILL_EDGES_CONSTANT = 2, /* `first` before the axis, `last` after it */
    BANDMILL_EDGES_EVEN = 3,     /* reflected half a spacing beyond the last point (Neumann ends) */
    BANDMILL_EDGES_ODD = 4,      /* the same, turned over, with the values `first` and `last` there (Dirichlet ends) */
    BANDMILL_EDGES_EVEN_AT_POINT = 5, /* reflected at the last point itself */
    BANDMILL_EDGES_ODD_AT_POINT = 6
};

typedef struct bandmill_edges {
    int kind;
    double first, last; /* for CONSTANT, ODD and ODD_AT_POINT */
} bandmill_edges;

/* Element (y, x) of plane m is data[y * row_stride + x * column_stride + m * batch_stride]. */
typedef struct bandmill_planes {
    int64_t rows, columns, batch;
    int64_t row_stride, column_stride, batch_stride;
} bandmill_planes;

bandmill_planes bandmill_row_by_row(int64_t rows, int64_t columns, int64_t batch); /* [plane][row][column] */

enum { BANDMILL_REPLACE = 0, BANDMILL_ADD = 1 }; /* results go to `out`, or are added to what it holds */

/* Along every system of a batch: a stencil of one row, whose columns run along the rows of a system. */
int bandmill_apply_f64(const bandmill_stencil* stencil, const double* in, bandmill_shape in_shape, double* out,
                       bandmill_shape out_shape, bandmill_edges edges, int into, int place, int threads, void* stream);
int bandmill_apply_f32(const bandmill_stencil* stencil, const float* in, bandmill_shape in_shape, float* out,
                       bandmill_shape out_shape, bandmill_edges edges, int into, int place, int threads, void* stream);
/* In every plane of a batch. `out` must not overlap `in`. */
int bandmill_apply_planes_f64(const bandmill_stencil* stencil, const double* in, bandmill_planes in_shape, double* out,
                              bandmill_planes out_shape, bandmill_edges x_edges, bandmill_edges y_edges, int into,
                              int place, int threads, void* stream);
int bandmill_apply_planes_f32(const bandmill_stencil* stencil, const float* in, bandmill_planes in_shape, float* out,
                              bandmill_planes out_shape, bandmill_edges x_edges, bandmill_edges y_edges, int into,
                              int place, int threads, void* stream);

#ifdef __cplusplus
}
#endif

#endif
