// Makes the MemorySurvey of a place: bytes by the contestants' own account, the largest batch by bisection, and on a
// GPU the proof by allocating it.
#pragma once

#include "contestant.hpp"
#include "memory_survey.hpp"

#include "bandmill/base/error.hpp"

#include <fmt/format.h>

namespace app {

template <class Space> class MemorySurveyor {
  public:
    MemorySurveyor(const Place<Space>& place, const std::vector<Rival<Space>>& rivals)
        : place_(place), rivals_(rivals), free_(place.free_bytes()) {}

    MemorySurvey run() const {
        MemorySurvey survey{free_, std::is_same_v<Space, bandmill::Cuda>, {}};
        for (const int width : {1, 2})
            for (const std::int64_t n : {256, 1024}) append(survey.entries, width, n);
        return survey;
    }

  private:
    using HoldingOf = std::function<Holding(const SolveCase&)>;

    void append(std::vector<MemoryEntry>& entries, int width, std::int64_t n) const {
        SolveCase what{width, bandmill::Boundary::open, MatrixKind::general, n,
                       65536, Layout::interleaved,      Precision::f64,      RivalScope::all};
        const auto matrix = make_matrix(what, default_sigma(width));
        const std::size_t factor = place_.template factor<double>(matrix).report().bytes;
        const MemoryUse ours = use(
            what,
            [factor](const SolveCase&) {
                return Holding{factor, {}};
            },
            INT64_MAX);
        entries.push_back({what, "bandmill", ours});
        for (const Rival<Space>& rival : rivals_) {
            what.layout = rival.layout;
            entries.push_back({what, rival.name, use_of(rival, what, ours)});
        }
    }

    std::variant<MemoryUse, std::string> use_of(const Rival<Space>& rival, const SolveCase& what,
                                                const MemoryUse& ours) const {
        if (const auto reason = rival.obstacle(what)) return *reason;
        try {
            MemoryUse its = use(what, rival.holding, rival.most_elements);
            its.reduction_percent =
                100 * (1 - static_cast<double>(ours.bytes_held) / static_cast<double>(its.bytes_held));
            return its;
        } catch (const bandmill::Error& error) {
            return fmt::format("failed: {}", error.what());
        }
    }

    MemoryUse use(const SolveCase& what, const HoldingOf& holding, std::int64_t most_elements) const {
        const Holding held = holding(what);
        const std::size_t bytes = field_bytes(what) + held.total();
        MemoryUse use{static_cast<double>(bytes - held.shared) / static_cast<double>(what.batch),
                      held.shared,
                      bytes,
                      std::nullopt,
                      0,
                      {},
                      false};
        SolveCase largest = what;
        largest.batch = use.largest_batch = bisect(what, holding);
        use.limit = limit_beyond(largest, holding);
        if (use.largest_batch > most_elements / what.n)
            use.limit += fmt::format("; a solve of more than {} elements was not tried", most_elements);
        if constexpr (std::is_same_v<Space, bandmill::Cuda>) {
            // A few per cent may be lost to fragments.
            for (int tries = 0; tries < 20 && !use.proved; ++tries) {
                use.proved = can_allocate(largest, holding(largest));
                use.largest_batch = largest.batch;
                if (!use.proved) largest.batch -= largest.batch / 100 + 1;
            }
        }
        return use;
    }

    static std::size_t field_bytes(const SolveCase& what) {
        return static_cast<std::size_t>(what.n) * static_cast<std::size_t>(what.batch) * what.element_bytes();
    }

    // The arrays, each as large as an allocator makes it.
    static std::vector<std::size_t> arrays(const SolveCase& what, const Holding& holding) {
        const std::size_t page = std::size_t{2} << 20;
        std::vector<std::size_t> sizes = holding.per_batch;
        sizes.push_back(holding.shared);
        sizes.push_back(field_bytes(what));
        for (std::size_t& size : sizes) size = (size + page - 1) / page * page;
        return sizes;
    }

    // A batch the contestant cannot even be asked about does not fit.
    bool fits(const SolveCase& what, const HoldingOf& holding) const {
        try {
            double sum = 0; // not an integer: a library's answer may be nonsense
            for (const std::size_t size : arrays(what, holding(what))) sum += static_cast<double>(size);
            return sum <= static_cast<double>(free_);
        } catch (const bandmill::Error&) {
            return false;
        }
    }

    std::int64_t bisect(SolveCase what, const HoldingOf& holding) const {
        std::int64_t good = 0, bad = static_cast<std::int64_t>(free_) /
                                         (what.n * static_cast<std::int64_t>(what.element_bytes())) +
                                     1;
        while (bad - good > 1) {
            what.batch = good + (bad - good) / 2;
            (fits(what, holding) ? good : bad) = what.batch;
        }
        return good;
    }

    static std::string limit_beyond(SolveCase what, const HoldingOf& holding) {
        ++what.batch;
        try {
            (void)holding(what);
            return "memory";
        } catch (const bandmill::Error& error) {
            return error.what();
        }
    }

    bool can_allocate(const SolveCase& what, const Holding& holding) const {
        std::vector<bandmill::Array<char, Space>> held;
        try {
            for (const std::size_t size : arrays(what, holding))
                held.push_back(place_.template allocate<char>(static_cast<std::int64_t>(size)));
            return true;
        } catch (const bandmill::DeviceError&) {
            return false;
        }
    }

    const Place<Space>& place_;
    const std::vector<Rival<Space>>& rivals_;
    std::size_t free_;
};

} // namespace app
