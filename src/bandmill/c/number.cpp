// Factors by number, for languages whose variables are copied without a call: a number whose factor is gone is noticed,
// where a pointer would be followed.
#include "bandmill/c/guard.hpp"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace bandmill::c {
namespace {

class Numbers {
  public:
    std::int64_t add(std::shared_ptr<void> factor) {
        const std::lock_guard lock(mutex_);
        all_.emplace(last_ + 1, Numbered{std::move(factor), 1});
        return ++last_;
    }
    void* find(std::int64_t number) {
        const std::lock_guard lock(mutex_);
        const auto found = all_.find(number);
        return found == all_.end() ? nullptr : found->second.factor.get();
    }
    void share(std::int64_t number) {
        const std::lock_guard lock(mutex_);
        if (const auto found = all_.find(number); found != all_.end()) ++found->second.users;
    }
    void release(std::int64_t number) {
        std::shared_ptr<void> gone; // destroyed after the lock
        const std::lock_guard lock(mutex_);
        const auto found = all_.find(number);
        if (found == all_.end() || --found->second.users > 0) return;
        gone = std::move(found->second.factor);
        all_.erase(found);
    }

  private:
    struct Numbered {
        std::shared_ptr<void> factor;
        std::int64_t users;
    };

    std::mutex mutex_;
    std::unordered_map<std::int64_t, Numbered> all_;
    std::int64_t last_ = 0; // never used again
};

// Lasts longer than whatever is finalised when the program ends.
Numbers& numbers() {
    static Numbers& all = *new Numbers;
    return all;
}

template <class Handle> int give_number(Handle* factor, void (*destroy)(Handle*), std::int64_t* number) noexcept {
    return guarded([&] {
        std::shared_ptr<void> owner(require(factor, "factor"), destroy);
        *require(number, "number that is to be given") = 0;
        *number = numbers().add(std::move(owner));
    });
}

} // namespace
} // namespace bandmill::c

using namespace bandmill::c;

extern "C" {

int bandmill_factor_number(bandmill_factor_t* factor, int64_t* number) {
    return give_number(factor, bandmill_factor_destroy, number);
}
int bandmill_batch_factor_number(bandmill_batch_factor_t* factor, int64_t* number) {
    return give_number(factor, bandmill_batch_factor_destroy, number);
}
void* bandmill_numbered(int64_t number) { return numbers().find(number); }
void bandmill_number_share(int64_t number) { numbers().share(number); }
void bandmill_number_release(int64_t number) { numbers().release(number); }
}
