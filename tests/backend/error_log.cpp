#include "solving.hpp"

#include <cstdio>
#include <map>
#include <utility>

namespace bandmill::test {
namespace {

struct Worst {
    double error = -1;
    std::string what;
    long count = 0;
};

std::map<std::pair<std::string, std::string>, Worst>& worst_errors() {
    static std::map<std::pair<std::string, std::string>, Worst> table;
    return table;
}

class ErrorSummary : public testing::Environment {
    void TearDown() override {
        for (const auto& [key, worst] : worst_errors())
            std::printf("[ error    ] %-11s %s: at most %6.3f of %g eps in %ld cases (%s)\n", key.first.c_str(),
                        key.second.c_str(), worst.error, allowed_error, worst.count, worst.what.c_str());
    }
};

[[maybe_unused]] const auto* const registered = testing::AddGlobalTestEnvironment(new ErrorSummary);

} // namespace

void log_error(SolvePath path, const std::string& precision, double error, const std::string& what) {
    Worst& worst = worst_errors()[{name(path), precision}];
    ++worst.count;
    if (error > worst.error || std::isnan(error)) {
        worst.error = error;
        worst.what = what;
    }
}

} // namespace bandmill::test
