// Everything a user of the library needs.
#pragma once

#include "bandmill/band/batch.hpp"
#include "bandmill/band/factor.hpp"
#include "bandmill/band/matrix.hpp"
#include "bandmill/band/solve.hpp"
#include "bandmill/base/array.hpp"
#include "bandmill/base/error.hpp"
#include "bandmill/base/event.hpp"
#include "bandmill/base/field.hpp"
#include "bandmill/base/space.hpp"
#include "bandmill/cpu/isa.hpp"
#include "bandmill/ensemble/ensemble.hpp"
#include "bandmill/stencil/advect.hpp"
#include "bandmill/stencil/apply.hpp"
#include "bandmill/stencil/apply_function.hpp"
#include "bandmill/version.hpp"
