#include "rivals_cusparse.hpp"

#include "own_rivals.hpp"
#include "place_cuda.hpp"
#include "rivals_cuda.hpp"

#include "bandmill/base/device.hpp"

#include <cusparse.h>
#include <fmt/format.h>

namespace app {
namespace {

using bandmill::Array;
using bandmill::BandMatrix;
using bandmill::Boundary;
using bandmill::Cuda;
using bandmill::FieldView;

void require(cusparseStatus_t status, const std::string& doing) {
    if (status != CUSPARSE_STATUS_SUCCESS)
        throw bandmill::DeviceError(fmt::format("cuSPARSE failed while {}: {} ({})", doing,
                                                cusparseGetErrorName(status), cusparseGetErrorString(status)));
}

// The library's handle, made when it is first wanted, on the device of the place, with the default stream.
class Library {
  public:
    explicit Library(bandmill::Device device) : device_(device) {}
    ~Library() {
        if (handle_) (void)cusparseDestroy(handle_);
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;

    bandmill::Device device() const { return device_; }
    cusparseHandle_t handle() {
        if (!handle_) {
            const bandmill::DeviceScope scope(device_);
            require(cusparseCreate(&handle_), "starting");
        }
        return handle_;
    }
    std::string version() {
        int number = 0;
        require(cusparseGetVersion(handle(), &number), "asking for its version");
        return fmt::format("cuSPARSE {}.{}.{}", number / 1000, number % 1000 / 100, number % 100);
    }

  private:
    bandmill::Device device_;
    cusparseHandle_t handle_ = nullptr;
};

using LibraryPointer = std::shared_ptr<Library>;

// The same names in both precisions.
template <class T> struct Calls;
template <> struct Calls<double> {
    static constexpr auto gtsv_size = cusparseDgtsvInterleavedBatch_bufferSizeExt;
    static constexpr auto gtsv = cusparseDgtsvInterleavedBatch;
    static constexpr auto gpsv_size = cusparseDgpsvInterleavedBatch_bufferSizeExt;
    static constexpr auto gpsv = cusparseDgpsvInterleavedBatch;
    static constexpr auto gtsv2_size = cusparseDgtsv2StridedBatch_bufferSizeExt;
    static constexpr auto gtsv2 = cusparseDgtsv2StridedBatch;
};
template <> struct Calls<float> {
    static constexpr auto gtsv_size = cusparseSgtsvInterleavedBatch_bufferSizeExt;
    static constexpr auto gtsv = cusparseSgtsvInterleavedBatch;
    static constexpr auto gpsv_size = cusparseSgpsvInterleavedBatch_bufferSizeExt;
    static constexpr auto gpsv = cusparseSgpsvInterleavedBatch;
    static constexpr auto gtsv2_size = cusparseSgtsv2StridedBatch_bufferSizeExt;
    static constexpr auto gtsv2 = cusparseSgtsv2StridedBatch;
};

enum class Routine { gtsv, gpsv, gtsv2 };

// The interleaved routines overwrite their matrices: put back off the clock, or written again as a part of each solve.
enum class Reset { off_the_clock, on_the_clock };

// gtsv: Thomas, as in the paper, the fastest of three; gpsv: QR, the only one.
constexpr int usual_algorithm = 0;

struct Sizes { // cuSPARSE counts in int
    int n, batch;

    explicit Sizes(const SolveCase& what) : n(static_cast<int>(what.n)), batch(static_cast<int>(what.batch)) {
        if (what.n > INT32_MAX || what.batch > INT32_MAX)
            throw bandmill::InvalidArgument(
                fmt::format("cuSPARSE counts in 32 bits: {} systems of {} rows are beyond it", what.batch, what.n));
    }
};

// The workspace the library asks for. It looks at no data, but refuses null pointers.
template <class T>
std::size_t workspace_bytes(Library& library, Routine routine, int algorithm, const SolveCase& what) {
    const Sizes size(what);
    const Array<T, Cuda> some(64, library.device());
    const T* p = some.data();
    std::size_t bytes = 0;
    const bandmill::DeviceScope scope(library.device());
    const cusparseHandle_t handle = library.handle();
    require(routine == Routine::gtsv ? Calls<T>::gtsv_size(handle, algorithm, size.n, p, p, p, p, size.batch, &bytes)
            : routine == Routine::gpsv
                ? Calls<T>::gpsv_size(handle, algorithm, size.n, p, p, p, p, p, p, size.batch, &bytes)
                : Calls<T>::gtsv2_size(handle, size.n, p, p, p, p, size.batch, size.n, &bytes),
            fmt::format("saying how large a buffer {} systems of {} rows need", what.batch, what.n));
    return bytes;
}

Holding holding(Library& library, Routine routine, int algorithm, const SolveCase& what) {
    const auto n = static_cast<std::size_t>(what.n), batch = static_cast<std::size_t>(what.batch);
    const auto diagonals = static_cast<std::size_t>(2 * what.half_bandwidth + 1);
    Holding held{diagonals * n * what.element_bytes(), {}};
    held.per_batch.assign(diagonals, n * batch * what.element_bytes());
    held.per_batch.push_back(what.precision == Precision::f64
                                 ? workspace_bytes<double>(library, routine, algorithm, what)
                                 : workspace_bytes<float>(library, routine, algorithm, what));
    return held;
}

template <class T> class Cusparse : public Contestant<T, Cuda> {
  public:
    Cusparse(LibraryPointer library, Routine routine, int algorithm, Reset reset, const SolveCase& what,
             const BandMatrix& matrix)
        : library_(std::move(library)), routine_(routine), algorithm_(algorithm), reset_(reset), size_(what),
          one_(one_matrix(matrix), library_->device()),
          workspace_(std::max<std::int64_t>(
                         1, static_cast<std::int64_t>(workspace_bytes<T>(*library_, routine, algorithm, what))),
                     library_->device()) {
        copies_.diagonals = 2 * what.half_bandwidth + 1;
        for (int k = 0; k < copies_.diagonals; ++k) {
            diagonals_.emplace_back(what.n * what.batch, library_->device());
            copies_.to[k] = diagonals_.back().data();
        }
        write_matrices();
    }

    std::string path() const override {
        return library_->version() + (routine_ == Routine::gtsv2      ? ""
                                      : reset_ == Reset::on_the_clock ? ", matrices written again"
                                                                      : ", matrices put back off the clock");
    }
    std::size_t held_bytes() const override {
        std::size_t bytes =
            static_cast<std::size_t>(one_.size()) * sizeof(T) + static_cast<std::size_t>(workspace_.size());
        for (const auto& diagonal : diagonals_) bytes += static_cast<std::size_t>(diagonal.size()) * sizeof(T);
        return bytes;
    }
    bool needs_restore() const override { return routine_ != Routine::gtsv2 && reset_ == Reset::off_the_clock; }
    void restore() override {
        if (needs_restore()) write_matrices();
    }
    void solve(FieldView<const T, Cuda>, FieldView<T, Cuda> x) override {
        // Writing them costs less than copying them from somewhere: they are all the same.
        if (reset_ == Reset::on_the_clock) write_matrices();
        const bandmill::DeviceScope scope(library_->device());
        const cusparseHandle_t handle = library_->handle();
        T* const* d = copies_.to;
        void* buffer = workspace_.data();
        require(routine_ == Routine::gtsv
                    ? Calls<T>::gtsv(handle, algorithm_, size_.n, d[0], d[1], d[2], x.data(), size_.batch, buffer)
                : routine_ == Routine::gpsv
                    ? Calls<T>::gpsv(handle, algorithm_, size_.n, d[0], d[1], d[2], d[3], d[4], x.data(), size_.batch,
                                     buffer)
                    : Calls<T>::gtsv2(handle, size_.n, d[0], d[1], d[2], x.data(), size_.batch, size_.n, buffer),
                "solving");
    }

  private:
    // Diagonal after diagonal, the lowest first; entries outside the matrix are 0, as cuSPARSE wants them.
    static std::vector<T> one_matrix(const BandMatrix& matrix) {
        std::vector<T> values;
        for (int k = -matrix.half_bandwidth(); k <= matrix.half_bandwidth(); ++k)
            for (std::int64_t i = 0; i < matrix.size(); ++i) values.push_back(static_cast<T>(matrix.entry(k, i)));
        return values;
    }
    void write_matrices() {
        const auto spread = routine_ == Routine::gtsv2 ? spread_contiguous<T> : spread_interleaved<T>;
        spread(library_->device(), one_.data(), size_.n, size_.batch, copies_);
    }

    LibraryPointer library_;
    Routine routine_;
    int algorithm_;
    Reset reset_;
    Sizes size_;
    Array<T, Cuda> one_;
    Array<char, Cuda> workspace_;
    std::vector<Array<T, Cuda>> diagonals_;
    Copies<T> copies_{};
};

Rival<Cuda> describe(const char* name, LibraryPointer library, Routine routine, Reset reset,
                     int algorithm = usual_algorithm) {
    Rival<Cuda> rival{name, routine == Routine::gtsv2 ? Layout::contiguous : Layout::interleaved, INT32_MAX, {}, {}, {},
                      {}};
    rival.obstacle = [routine](const SolveCase& what) -> std::optional<std::string> {
        const int width = routine == Routine::gpsv ? 2 : 1;
        if (what.half_bandwidth != width) return width == 1 ? "tridiagonal only" : "pentadiagonal only";
        if (what.boundary == Boundary::periodic) return "open only";
        if (what.n < 6) return "needs at least 6 rows";
        return std::nullopt;
    };
    rival.holding = [=](const SolveCase& what) { return holding(*library, routine, algorithm, what); };
    rival.make_f64 = [=](const SolveCase& what, const BandMatrix& matrix) {
        return std::make_unique<Cusparse<double>>(library, routine, algorithm, reset, what, matrix);
    };
    rival.make_f32 = [=](const SolveCase& what, const BandMatrix& matrix) {
        return std::make_unique<Cusparse<float>>(library, routine, algorithm, reset, what, matrix);
    };
    return rival;
}

} // namespace

std::vector<Rival<Cuda>> cusparse_rivals(const Place<Cuda>& place) {
    const auto library = std::make_shared<Library>(place.device());
    return {describe("gtsvInterleavedBatch", library, Routine::gtsv, Reset::off_the_clock),
            describe("gtsvInterleavedBatch+reset", library, Routine::gtsv, Reset::on_the_clock),
            describe("gtsv2StridedBatch", library, Routine::gtsv2, Reset::off_the_clock),
            describe("gpsvInterleavedBatch", library, Routine::gpsv, Reset::off_the_clock),
            describe("gpsvInterleavedBatch+reset", library, Routine::gpsv, Reset::on_the_clock)};
}

std::vector<Rival<Cuda>> make_own_rivals(const Place<Cuda>& place) {
    const auto library = std::make_shared<Library>(place.device());
    return {describe("gtsvInterleavedBatch", library, Routine::gtsv, Reset::off_the_clock),
            describe("gtsvInterleavedBatch-LU", library, Routine::gtsv, Reset::off_the_clock, 1),
            describe("gtsvInterleavedBatch-QR", library, Routine::gtsv, Reset::off_the_clock, 2),
            describe("gpsvInterleavedBatch", library, Routine::gpsv, Reset::off_the_clock)};
}

} // namespace app
