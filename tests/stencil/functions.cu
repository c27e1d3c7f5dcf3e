#include "functions.hpp"

#include "bandmill/stencil/apply_function.cuh"

BANDMILL_TEST_FUNCTIONS(Cuda)
