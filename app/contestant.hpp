// The contestants of `bandmill bench solve`. Ours is the first; each rival is one more class and one more line in
// `contestants`, and then has its times, error and memory in the table, and in the record's `rivals`.
#pragma once

#include "place.hpp"
#include "solve_case.hpp"

#include <memory>
#include <string>
#include <vector>

namespace app {

// Ready to solve when constructed: factoring is not part of what is timed.
template <class T, class Space> class Contestant {
  public:
    virtual ~Contestant() = default;
    virtual std::string name() const = 0;
    virtual std::string path() const = 0;       // the algorithm it chose
    virtual std::size_t held_bytes() const = 0; // memory beside the field: factor, workspace
    virtual void solve(bandmill::FieldView<const T, Space> b, bandmill::FieldView<T, Space> x) = 0;
};

template <class T, class Space> class Bandmill : public Contestant<T, Space> {
  public:
    Bandmill(const Place<Space>& place, const bandmill::BandMatrix& matrix)
        : place_(place), factor_(place.template factor<T>(matrix)) {}
    std::string name() const override { return "bandmill"; }
    std::string path() const override { return bandmill::name(factor_.report().path); }
    std::size_t held_bytes() const override { return factor_.report().bytes; }
    void solve(bandmill::FieldView<const T, Space> b, bandmill::FieldView<T, Space> x) override {
        place_.template solve<T>(factor_, b, x);
    }

  private:
    const Place<Space>& place_;
    bandmill::Factor<T, Space> factor_;
};

// Those that can solve this case, ours first.
template <class T, class Space>
std::vector<std::unique_ptr<Contestant<T, Space>>> contestants(const Place<Space>& place, const SolveCase&,
                                                               const bandmill::BandMatrix& matrix) {
    std::vector<std::unique_ptr<Contestant<T, Space>>> all;
    all.push_back(std::make_unique<Bandmill<T, Space>>(place, matrix));
    return all;
}

} // namespace app
