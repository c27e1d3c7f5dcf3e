#include "file_lock.hpp"

#include "text.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

namespace app {

FileLock::FileLock(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw UsageError(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return; // a file system without locks
        if (std::chrono::steady_clock::now() > patience) {
            close(descriptor_);
            throw UsageError(
                fmt::format("'{}' is in use by another bandmill: wait for it, or choose another --out", path));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

FileLock::~FileLock() { close(descriptor_); }

} // namespace app
