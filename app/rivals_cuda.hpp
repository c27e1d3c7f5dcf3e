// The benchmark's own kernels, launched on the default stream. rivals_cuda.cu; T = double or float.
#pragma once

#include "paper.hpp"

#include "bandmill/base/space.hpp"

#include <cstdint>

namespace app {

// The paper's solve, interleaved, in place; `tables.values` and `scratch` (one value per system, for W = 1 periodic)
// lie on the device.
template <class T>
void paper_solve_cuda(bandmill::Device device, const PaperTables<T>& tables, T* x, std::int64_t batch, T* scratch);

// What follows the sweeps of a periodic system: the border, and its part in all rows. For x that another solver of the
// open part (paper_open_part) has left.
template <class T>
void paper_border_cuda(bandmill::Device device, const PaperTables<T>& tables, T* x, std::int64_t batch, T* scratch);

// A matrix for each system: diagonal k of all of them is to[k], from the n values at from + k * n.
template <class T> struct Copies {
    int diagonals;
    T* to[5];
};
template <class T>
void spread_interleaved(bandmill::Device device, const T* from, std::int64_t n, std::int64_t batch, Copies<T> copies);
template <class T>
void spread_contiguous(bandmill::Device device, const T* from, std::int64_t n, std::int64_t batch, Copies<T> copies);

// to[i] = from[where[i]]: brings scattered elements together, so that one copy fetches them.
template <class T>
void gather_cuda(bandmill::Device device, const T* from, const std::int64_t* where, std::int64_t count, T* to);

} // namespace app
