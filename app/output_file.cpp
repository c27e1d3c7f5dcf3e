#include "output_file.hpp"

#include "text.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

#include <fmt/format.h>

namespace app {

OutputFile::OutputFile(std::string path, Overwrite overwrite) : path_(std::move(path)), overwrite_(overwrite) {
    const std::filesystem::path target(path_);
    if (!target.has_filename()) throw UsageError(fmt::format("'{}' is not a file name", path_));
    refuse_existing();
    temporary_ = (target.parent_path() / fmt::format(".{}.{}", target.filename().string(), getpid())).string();
    // Permission bits do not tell all (read-only mounts, root, quotas), so try.
    const int file = create_temporary();
    if (file < 0) throw UsageError(fmt::format("cannot write '{}': {}", path_, std::strerror(errno)));
    close(file);
    unlink(temporary_.c_str());
}

void OutputFile::refuse_existing() const {
    std::error_code error;
    const auto status = std::filesystem::status(path_, error);
    if (!std::filesystem::exists(status)) return;
    if (!std::filesystem::is_regular_file(status))
        throw UsageError(fmt::format("cannot write '{}': it exists and is not a regular file", path_));
    if (overwrite_ == Overwrite::no)
        throw UsageError(fmt::format("'{}' exists already: choose another name, or add --force-overwrite", path_));
}

int OutputFile::create_temporary() const {
    return open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

void OutputFile::write(const std::string& text) const {
    const int file = create_temporary();
    bool good = file >= 0;
    for (std::size_t done = 0; good && done < text.size();) {
        const ssize_t count = ::write(file, text.data() + done, text.size() - done);
        good = count > 0 || (count < 0 && errno == EINTR);
        if (count > 0) done += static_cast<std::size_t>(count);
    }
    good = good && fsync(file) == 0;
    const int error = errno;
    if (file >= 0) close(file);
    if (good && rename(temporary_.c_str(), path_.c_str()) == 0) return;
    const std::string reason = std::strerror(good ? errno : error);
    unlink(temporary_.c_str());
    throw std::runtime_error(fmt::format("cannot write '{}': {}", path_, reason));
}

} // namespace app
