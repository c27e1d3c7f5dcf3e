// A file by POSIX calls: bytes go to and come from given places, and are on the disk when sync() returns.
#pragma once

#include "bandmill/io/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace bandmill::detail {

class CheckpointFile {
  public:
    enum class Mode { create, write, read };

    CheckpointFile(std::string path, Mode mode)
        : path_(std::move(path)), mode_(mode), descriptor_(open(path_.c_str(), flags(mode), 0666)) {
        if (descriptor_ < 0) fail(errno);
    }
    ~CheckpointFile() { close(descriptor_); }
    CheckpointFile(const CheckpointFile&) = delete;
    CheckpointFile& operator=(const CheckpointFile&) = delete;

    struct stat status() const {
        struct stat status {};
        if (fstat(descriptor_, &status) != 0) fail(errno);
        return status;
    }

    void write(std::span<const std::byte> bytes, std::int64_t place) {
        move(bytes, place, [&](auto part, off_t at) { return pwrite(descriptor_, part.data(), part.size(), at); });
    }
    void read(std::span<std::byte> bytes, std::int64_t place) const {
        move(bytes, place, [&](auto part, off_t at) { return pread(descriptor_, part.data(), part.size(), at); });
    }

    void sync() {
        while (fsync(descriptor_) != 0)
            if (errno != EINTR) fail(errno);
    }

  private:
    static int flags(Mode mode) {
        switch (mode) {
        case Mode::create: return O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
        case Mode::write: return O_WRONLY | O_CLOEXEC;
        default: return O_RDONLY | O_NONBLOCK | O_CLOEXEC; // a named pipe would wait for a writer
        }
    }

    template <class Bytes, class Call> void move(Bytes bytes, std::int64_t place, Call call) const {
        while (!bytes.empty()) {
            const ssize_t count = call(bytes, static_cast<off_t>(place));
            if (count < 0 && errno == EINTR) continue;
            if (count < 0) fail(errno);
            if (count == 0) throw FileError(what_failed() + " (it ends at byte " + std::to_string(place) + ")");
            bytes = bytes.subspan(static_cast<std::size_t>(count));
            place += count;
        }
    }

    std::string what_failed() const { return (mode_ == Mode::read ? "cannot read '" : "cannot write '") + path_ + "'"; }
    [[noreturn]] void fail(int error) const { throw FileError(what_failed() + " (" + std::strerror(error) + ")"); }

    std::string path_;
    Mode mode_;
    int descriptor_;
};

} // namespace bandmill::detail
