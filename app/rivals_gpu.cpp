// The rivals on a GPU: the paper's kernels, and cuSPARSE (rivals_cusparse.cpp).
#include "own_rivals.hpp"
#include "place_cuda.hpp"
#include "rivals_cuda.hpp"
#include "rivals_cusparse.hpp"

#include "bandmill/cuda/batch_plan.hpp"

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::Array;
using bandmill::BandMatrix;
using bandmill::Boundary;
using bandmill::Cuda;
using bandmill::FieldView;

std::int64_t scratch_values(const SolveCase& what) {
    return what.half_bandwidth == 1 && what.boundary == Boundary::periodic ? what.batch : 0;
}

template <class T> class PaperKernels : public Contestant<T, Cuda> {
  public:
    PaperKernels(const Place<Cuda>& place, const SolveCase& what, const BandMatrix& matrix)
        : PaperKernels(place, what, paper_factor<T>(matrix)) {}
    std::string path() const override {
        if (tables_.half_bandwidth == 1)
            return tables_.periodic ? "cuThomasConstantBatch + Sherman-Morrison" : "cuThomasConstantBatch";
        return tables_.periodic ? "cuPentConstantBatch + Navon's border" : "cuPentConstantBatch";
    }
    std::size_t held_bytes() const override {
        return static_cast<std::size_t>(values_.size() + scratch_.size()) * sizeof(T);
    }
    void solve(FieldView<const T, Cuda>, FieldView<T, Cuda> x) override {
        paper_solve_cuda(device_, tables_, x.data(), x.batch(), scratch_.data());
    }

  private:
    PaperKernels(const Place<Cuda>& place, const SolveCase& what, const PaperFactor<T>& factor)
        : device_(place.device()), tables_(factor.tables), values_(std::span<const T>(factor.values), device_),
          scratch_(scratch_values(what), device_) {
        tables_.values = values_.data();
    }

    bandmill::Device device_;
    PaperTables<T> tables_;
    Array<T, Cuda> values_, scratch_;
};

Rival<Cuda> paper(const Place<Cuda>& place) {
    Rival<Cuda> rival{"paper", Layout::interleaved, INT64_MAX, {}, {}, {}, {}};
    rival.obstacle = [](const SolveCase& what) -> std::optional<std::string> {
        if (what.n < paper_least_rows) return fmt::format("needs at least {} rows", paper_least_rows);
        return std::nullopt;
    };
    rival.holding = [](const SolveCase& what) {
        Holding holding{paper_values(what.half_bandwidth, what.boundary, what.n) * what.element_bytes(), {}};
        if (const std::int64_t scratch = scratch_values(what); scratch > 0)
            holding.per_batch.push_back(static_cast<std::size_t>(scratch) * what.element_bytes());
        return holding;
    };
    rival.make_f64 = [&place](const SolveCase& what, const BandMatrix& matrix) {
        return std::make_unique<PaperKernels<double>>(place, what, matrix);
    };
    rival.make_f32 = [&place](const SolveCase& what, const BandMatrix& matrix) {
        return std::make_unique<PaperKernels<float>>(place, what, matrix);
    };
    return rival;
}

} // namespace

std::vector<Rival<Cuda>> make_rivals(const Place<Cuda>& place) {
    std::vector<Rival<Cuda>> rivals = {paper(place)};
    for (Rival<Cuda>& rival : cusparse_rivals(place)) rivals.push_back(std::move(rival));
    return rivals;
}

void set_batch_tuning(int blocks, int chunks) {
    const bool splits = blocks == 0 && chunks == 0; // what is tried is another kernel
    bandmill::cuda::batch_tuning = {blocks, chunks, splits};
}
template <class T> OwnPath path_of(const bandmill::BatchFactor<T, Cuda>& factor) {
    const auto& data = factor.data();
    const auto& plan = *static_cast<const bandmill::cuda::BatchPlan*>(data.knowledge.get());
    if (plan.split.width > 0) return OwnPath::split;
    // Interleaved rows that are not aligned are not fetched as a whole.
    if (plan.piece == 0 || factor.batch() * static_cast<std::int64_t>(sizeof(T)) % 16 != 0) return OwnPath::sweeps;
    std::vector<int> reach(static_cast<std::size_t>(data.reach.size()));
    data.reach.copy_to(std::span<int>(reach));
    const bool anywhere = std::find(reach.begin(), reach.end(), bandmill::cuda::felt_throughout) != reach.end();
    return anywhere ? OwnPath::sweeps : OwnPath::in_pieces;
}
template OwnPath path_of(const bandmill::BatchFactor<double, Cuda>&);
template OwnPath path_of(const bandmill::BatchFactor<float, Cuda>&);

} // namespace app
