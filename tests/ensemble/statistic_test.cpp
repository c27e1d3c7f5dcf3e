// EnsembleStatistic: sums that do not depend on order, and what they say of the values.
#include "../base/expect_error.hpp"

#include "bandmill/ensemble/observable.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <string>

namespace bandmill::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

EnsembleStatistic statistic_of(const std::vector<double>& values, const std::optional<HistogramBins>& bins = {}) {
    EnsembleStatistic statistic;
    for (double value : values) statistic.add(value, bins);
    return statistic;
}

void expect_same(const EnsembleStatistic& a, const EnsembleStatistic& b) {
    EXPECT_EQ(a.members, b.members);
    EXPECT_EQ(a.left_out, b.left_out);
    EXPECT_EQ(a.sum, b.sum);
    EXPECT_EQ(a.squares, b.squares);
    EXPECT_EQ(a.below, b.below);
    EXPECT_EQ(a.above, b.above);
    EXPECT_EQ(a.histogram, b.histogram);
}

std::vector<double> normal_values(std::size_t count, double mean, double deviation) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal(mean, deviation);
    std::vector<double> values(count);
    for (double& value : values) value = normal(random);
    return values;
}

// Two passes in long double.
std::pair<double, double> mean_and_variance(const std::vector<double>& values) {
    const auto count = static_cast<long double>(values.size());
    const long double mean = std::accumulate(values.begin(), values.end(), 0.0L) / count;
    long double squares = 0;
    for (double value : values) squares += (value - mean) * (value - mean);
    return {static_cast<double>(mean), static_cast<double>(squares / (count - 1))};
}

TEST(EnsembleStatistic, DoesNotDependOnOrderOrGrouping) {
    std::vector<double> values = normal_values(100'000, 0, 1000);
    for (std::size_t k = 0; k < values.size(); k += 3) values[k] *= 1e-12; // sums of doubles would depend on it
    const std::optional<HistogramBins> bins = HistogramBins{-1000, 1000, 17};
    const EnsembleStatistic whole = statistic_of(values, bins);
    std::shuffle(values.begin(), values.end(), std::mt19937_64(2));
    expect_same(statistic_of(values, bins), whole);
    EnsembleStatistic together;
    for (const auto& [begin, end] : {std::pair{60'000, 100'000}, {0, 1}, {1, 60'000}})
        together.add(statistic_of({values.begin() + begin, values.begin() + end}, bins));
    expect_same(together, whole);
}

TEST(EnsembleStatistic, MeanAndVarianceHaveTheDigitsOfADouble) {
    // Domain sizes of a million members: the squares cancel to 1/900 of themselves.
    const std::vector<double> values = normal_values(1'000'000, 3, 0.1);
    const EnsembleStatistic statistic = statistic_of(values);
    const auto [mean, variance] = mean_and_variance(values);
    EXPECT_NEAR(statistic.mean(), mean, 1e-15 * mean);
    EXPECT_NEAR(statistic.variance(), variance, 1e-11 * variance);
    EXPECT_NEAR(statistic.standard_error(), std::sqrt(variance / 1e6), 1e-11 * std::sqrt(variance / 1e6));

    const std::vector<double> narrow = normal_values(10'000, -3, 1e-5); // and to 1e-11
    EXPECT_NEAR(statistic_of(narrow).variance(), 1e-10, 1e-11);
    EXPECT_NEAR(statistic_of(narrow).variance(), mean_and_variance(narrow).second, 1e-14);

    const std::vector<double> large = normal_values(10'000, 4e6, 1e6);
    EXPECT_NEAR(statistic_of(large).mean(), mean_and_variance(large).first, 1e-8);
    EXPECT_NEAR(statistic_of(large).variance(), mean_and_variance(large).second, 1.0);
}

TEST(EnsembleStatistic, OfFewMembers) {
    EXPECT_TRUE(std::isnan(statistic_of({}).mean()));
    EXPECT_EQ(statistic_of({-2.5}).mean(), -2.5);
    EXPECT_TRUE(std::isnan(statistic_of({1}).variance()));
    EXPECT_TRUE(std::isnan(statistic_of({1}).standard_error()));
    EXPECT_EQ(statistic_of({1, 3}).variance(), 2);
    EXPECT_EQ(statistic_of({1, 3}).standard_error(), 1);
    // Equal values have no variance, whatever rounding says.
    EXPECT_GE(statistic_of(std::vector<double>(1000, 0.1)).variance(), 0);
    EXPECT_LT(statistic_of(std::vector<double>(1000, 0.1)).variance(), 1e-14);
}

TEST(EnsembleStatistic, LeavesOutWhatTheSumsCannotHold) {
    const double most = detail::largest_value;
    EnsembleStatistic statistic = statistic_of({1, nan, infinity, -infinity, 2 * most, -2 * most, 1e300, 3});
    EXPECT_EQ(statistic.members, 2);
    EXPECT_EQ(statistic.left_out, 6);
    EXPECT_EQ(statistic.mean(), 2);
    // The largest that is held, as often as a machine has members: no overflow.
    EnsembleStatistic full = statistic_of(std::vector<double>(1000, -most));
    for (int doubling = 0; doubling < 20; ++doubling) full.add(EnsembleStatistic(full));
    EXPECT_EQ(full.members, 1000 << 20);
    EXPECT_EQ(full.mean(), -most);
    EXPECT_EQ(full.variance(), 0);
    EXPECT_EQ(detail::domain_size(0.5), 2);
    EXPECT_EQ(detail::domain_size(2), -1);
    EXPECT_FALSE(detail::fits_sums(detail::domain_size(1)));
    EXPECT_FALSE(detail::fits_sums(detail::domain_size(infinity))); // not a domain size of 0
}

TEST(EnsembleStatistic, HistogramEdges) {
    const std::optional<HistogramBins> bins = HistogramBins{-1, 1, 4};
    const EnsembleStatistic statistic =
        statistic_of({-1, -0.5000001, -0.5, 0, 0.4999999, 0.5, 1, 1.0000001, -1.0000001, 7, nan}, bins);
    EXPECT_EQ(statistic.histogram, (std::vector<std::int64_t>{2, 1, 2, 2})); // the upper end belongs to the last bin
    EXPECT_EQ(statistic.below, 1);
    EXPECT_EQ(statistic.above, 2);
    EXPECT_EQ(statistic.members, 10);
    EXPECT_EQ(statistic.left_out, 1);
    // Bins that no double marks exactly still take each value once.
    const std::optional<HistogramBins> thirds = HistogramBins{0.1, 0.7, 3};
    const EnsembleStatistic split = statistic_of({0.1, 0.3, 0.5, 0.7, std::nextafter(0.7, 0)}, thirds);
    EXPECT_EQ(std::accumulate(split.histogram.begin(), split.histogram.end(), std::int64_t{0}), 5);

    EnsembleStatistic other = statistic_of({0}, HistogramBins{-1, 1, 5});
    expect_error<InvalidArgument>([&] { other.add(statistic); }, {"4 bins", "5"});
    EnsembleStatistic nothing;
    nothing.add(statistic);
    expect_same(nothing, statistic);
}

TEST(Observable, NamesAreDistinct) {
    std::set<std::string> names;
    for (int which = 0; which < observable_count; ++which) names.insert(name(static_cast<Observable>(which)));
    EXPECT_EQ(names.size(), static_cast<std::size_t>(observable_count));
    expect_error<InvalidArgument>([] { name(static_cast<Observable>(observable_count)); }, {"7"});
}

} // namespace
} // namespace bandmill::test
