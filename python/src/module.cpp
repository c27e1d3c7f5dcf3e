// The module bandmill._bandmill: what of the library Python sees. The package around it is in python/bandmill.
#include "ensemble.hpp"
#include "plan.hpp"
#include "solve.hpp"
#include "torch.hpp"

#include "bandmill/base/error.hpp"
#include "bandmill/version.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using bandmill::python::Plan;

namespace {

using Diagonals = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// ab[W + i - j, j] == A[i, j], as in SciPy; the library indexes diagonals by row.
bandmill::BandMatrix matrix_from(const Diagonals& ab, bool periodic) {
    const auto rows = static_cast<std::int64_t>(ab.shape(0)), n = static_cast<std::int64_t>(ab.shape(1));
    if (rows != 3 && rows != 5)
        throw bandmill::InvalidArgument("ab has shape (" + std::to_string(rows) + ", " + std::to_string(n) + "), so " +
                                        std::to_string(rows) +
                                        " diagonals: pass 3 rows (tridiagonal) or 5 (pentadiagonal), the highest "
                                        "diagonal first, with one column per unknown");
    const std::int64_t half = rows / 2;
    std::vector<std::vector<double>> diagonals(rows, std::vector<double>(n, 0.0));
    for (std::int64_t k = -half; k <= half; ++k)
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int64_t j = i + k;
            if (!periodic && (j < 0 || j >= n)) continue; // an unused corner may hold anything
            diagonals[k + half][i] = ab(half - k, ((j % n) + n) % n);
        }
    const auto boundary = periodic ? bandmill::Boundary::periodic : bandmill::Boundary::open;
    const auto& d = diagonals;
    return half == 1 ? bandmill::BandMatrix::tridiagonal(d[0], d[1], d[2], boundary)
                     : bandmill::BandMatrix::pentadiagonal(d[0], d[1], d[2], d[3], d[4], boundary);
}

bandmill::FactorReport report_of(Plan& plan, int bits, int device) {
    const nb::gil_scoped_release unlocked;
    return bits == 32 ? plan.report<float>(device) : plan.report<double>(device);
}

// The classes are written in Python (bandmill/_errors.py), where a subclass of two others is one line.
template <class... Details> void raise(const char* name, const char* text, Details... details) {
    const nb::object type = nb::module_::import_("bandmill._errors").attr(name);
    const nb::object error = type(text, details...);
    PyErr_SetObject(type.ptr(), error.ptr());
}

void translate(const std::exception_ptr& pointer, void*) {
    try {
        std::rethrow_exception(pointer);
    } catch (const bandmill::InvalidArgument& error) {
        raise("InvalidArgumentError", error.what());
    } catch (const bandmill::InvalidMatrix& error) {
        raise("InvalidMatrixError", error.what(), error.row());
    } catch (const bandmill::SingularMatrix& error) {
        raise("SingularMatrixError", error.what(), error.row());
    } catch (const bandmill::Unstable& error) {
        raise("UnstableError", error.what(), error.member(), error.time());
    } catch (const bandmill::BackendUnavailable& error) {
        raise("BackendUnavailableError", error.what());
    } catch (const bandmill::DeviceError& error) {
        raise("DeviceError", error.what());
    } catch (const bandmill::Error& error) {
        raise("Error", error.what());
    }
}

} // namespace

NB_MODULE(_bandmill, module) {
    nb::register_exception_translator(translate);
    // torch does not take its graphs apart when Python ends, and their nodes hold plans: not a leak to warn of.
    nb::set_leak_warnings(false);

    module.attr("version") = bandmill::version();
    module.attr("cuda_built") = bandmill::cuda_built();
    module.def("cuda_devices", [] {
        std::vector<std::string> names;
        for (const auto& device : bandmill::cuda_devices()) names.push_back(device.name);
        return names;
    });

    module.def("last_seconds", bandmill::python::last_seconds);
    module.def("know_torch", bandmill::python::know_torch);

    nb::class_<Plan>(module, "Plan")
        .def(
            "__init__",
            [](Plan* self, const Diagonals& ab, bool periodic, int bits, int device, int threads) {
                new (self) Plan(matrix_from(ab, periodic), {bits, device, bandmill::Threads{threads}});
            },
            "ab"_a, "periodic"_a, "bits"_a, "device"_a, "threads"_a)
        .def_prop_ro("n", [](const Plan& plan) { return plan.matrix().size(); })
        .def_prop_ro("half_bandwidth", [](const Plan& plan) { return plan.matrix().half_bandwidth(); })
        .def_prop_ro("periodic",
                     [](const Plan& plan) { return plan.matrix().boundary() == bandmill::Boundary::periodic; })
        .def("transposed", [](const Plan& plan) { return new Plan(plan.matrix().transposed(), plan.options()); })
        .def(
            "report",
            [](Plan& plan, int bits, int device) {
                const bandmill::FactorReport report = report_of(plan, bits, device);
                return nb::make_tuple(bandmill::name(report.path), report.pivot_growth, report.backward_error,
                                      report.bytes, report.workspace_bytes_per_system);
            },
            "bits"_a, "device"_a)
        .def(
            "solve",
            [](Plan& plan, nb::handle b, nb::handle x, std::int64_t axis, std::uintptr_t stream) {
                return static_cast<int>(bandmill::python::solve(plan, b, x, axis, stream));
            },
            "b"_a, "x"_a, "axis"_a, "stream"_a)
        .def("solve_plain", bandmill::python::solve_plain)
        .def("solve_jax", bandmill::python::solve_jax, "b"_a, "axis"_a);

    bandmill::python::bind_ensemble(module);
}
