// The functions of neighbours that function_test.cpp tries. functions.cpp applies them on the CPU; functions.cu, which
// nvcc compiles as it would compile a user's file, on a GPU.
#pragma once

#include "bandmill/stencil/apply_function.hpp"

namespace bandmill::test {

// A weighted sum, which can be compared with a Stencil.
template <class T> struct Cross {
    T centre, side;
    static constexpr Reach reach{1, 1, 1, 1};
    BANDMILL_HD T operator()(const Neighbourhood<T>& at) const {
        return centre * at(0) + side * (at(-1) + at(1) + at(0, -1) + at(0, 1));
    }
};

// Nothing a Stencil could do: products, a one-sided reach, and the place of the point.
template <class T> struct Skewed {
    T factor;
    static constexpr Reach reach{2, 1, 0, 3};
    BANDMILL_HD T operator()(const Neighbourhood<T>& at) const {
        return factor * at(-2) * at(1, 3) + at(-1, 1) * at(0, 2) + T(at.x() + 2 * at.y() - 3 * at.plane());
    }
};

template <class T> struct Flux { // along the systems of a field, and the place
    T factor;
    static constexpr Reach reach{1, 2, 0, 0};
    BANDMILL_HD T operator()(const Neighbourhood<T>& at) const {
        return factor * (at(2) * at(-1) - at(0) * at(1)) + T(at.x() + 100 * at.y() + 10000 * at.plane());
    }
};

template <class T, class Space, class Function>
void apply_example(const Function& function, PlaneView<const T, Space> in, PlaneView<T, Space> out,
                   const PlaneEdges& edges, Into into);
template <class T, class Space>
void apply_example(const Flux<T>& function, FieldView<const T, Space> in, FieldView<T, Space> out, const Edges& edges);
template <class Space>
void apply_wide(const Reach& reach, PlaneView<const double, Space> in, PlaneView<double, Space> out);

} // namespace bandmill::test

// In functions.cpp and functions.cu: the definitions for one Space.
#define BANDMILL_TEST_FUNCTION(T, Space, Function)                                                                     \
    template void apply_example(const Function<T>&, PlaneView<const T, Space>, PlaneView<T, Space>, const PlaneEdges&, \
                                Into)
#define BANDMILL_TEST_FUNCTIONS(Space)                                                                                 \
    namespace bandmill::test {                                                                                         \
    template <class T, class S, class Function>                                                                        \
    void apply_example(const Function& function, PlaneView<const T, S> in, PlaneView<T, S> out,                        \
                       const PlaneEdges& edges, Into into) {                                                           \
        apply_function(Function::reach, function, in, out, edges, into);                                               \
    }                                                                                                                  \
    template <class T, class S>                                                                                        \
    void apply_example(const Flux<T>& function, FieldView<const T, S> in, FieldView<T, S> out, const Edges& edges) {   \
        apply_function(Flux<T>::reach, function, in, out, edges);                                                      \
    }                                                                                                                  \
    template <class S> void apply_wide(const Reach& reach, PlaneView<const double, S> in, PlaneView<double, S> out) {  \
        apply_function(reach, Cross<double>{1, 2}, in, out, Edges::periodic());                                        \
    }                                                                                                                  \
    BANDMILL_TEST_FUNCTION(double, Space, Cross);                                                                      \
    BANDMILL_TEST_FUNCTION(float, Space, Cross);                                                                       \
    BANDMILL_TEST_FUNCTION(double, Space, Skewed);                                                                     \
    BANDMILL_TEST_FUNCTION(float, Space, Skewed);                                                                      \
    template void apply_example(const Flux<double>&, FieldView<const double, Space>, FieldView<double, Space>,         \
                                const Edges&);                                                                         \
    template void apply_wide(const Reach&, PlaneView<const double, Space>, PlaneView<double, Space>);                  \
    }
