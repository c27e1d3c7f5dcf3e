#include "study_files.hpp"

#include "text.hpp"

#include "bandmill/io/checkpoint.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <unistd.h>

#include <fmt/format.h>

namespace app {
namespace {

namespace fs = std::filesystem;

bool is_there(const std::string& path) {
    std::error_code error;
    return fs::exists(fs::symlink_status(path, error));
}

// The name of the results that belong to a checkpoint.
std::string out_of(const std::string& checkpoint, const std::string& otherwise) {
    const std::string suffix = ".checkpoint";
    return checkpoint.ends_with(suffix) && checkpoint.size() > suffix.size()
               ? checkpoint.substr(0, checkpoint.size() - suffix.size())
               : otherwise;
}

} // namespace

StudyFiles::StudyFiles(const std::string& out, const std::string& checkpoint, std::shared_ptr<FileLock> lock)
    : lock_(std::move(lock)), out_(out_of(checkpoint, out)) {
    if (!fs::path(out_).has_filename()) throw UsageError(fmt::format("--out '{}' is not a file name", out_));
    std::error_code error;
    if (fs::is_symlink(out_, error)) { // what it points to is what is meant
        if (!fs::exists(out_, error))
            throw UsageError(fmt::format("--out '{}' is a link to something that is not there", out_));
        out_ = fs::canonical(out_).string();
    }
    partial_ = out_ + ".partial";
    checkpoint_ = checkpoint.empty() ? out_ + ".checkpoint" : checkpoint;
}

bool StudyFiles::concerns(const std::string& path) const {
    const auto whole = [](const std::string& name) {
        std::error_code error;
        return fs::weakly_canonical(fs::absolute(name), error);
    };
    for (const std::string& own : {out_, partial_, checkpoint_, checkpoint_ + ".previous"})
        if (whole(path) == whole(own)) return true;
    return false;
}

void StudyFiles::refuse_own(const std::string& summary) const {
    if (concerns(summary))
        throw UsageError(fmt::format("--json '{}' is a file of the results themselves: choose another", summary));
}

void StudyFiles::refuse_existing(bool overwrite) const {
    try_folder();
    if (is_there(out_) && !overwrite)
        throw UsageError(fmt::format("'{}' exists already: choose another name, or add --force-overwrite", out_));
    for (const std::string& left : {checkpoint_, checkpoint_ + ".previous"})
        if (is_there(left) && !overwrite)
            throw UsageError(
                fmt::format("'{}' is left of a run that was stopped: go on with bandmill resume {}, or add "
                            "--force-overwrite to start again",
                            left, checkpoint_));
}

// Permission bits do not tell all (read-only mounts, quotas).
void StudyFiles::try_folder() const {
    std::error_code error;
    const auto status = fs::status(out_, error);
    if (fs::exists(status) && !fs::is_regular_file(status))
        throw UsageError(fmt::format("cannot write '{}': it exists and is not a regular file", out_));
    const std::string trial = partial_ + ".new";
    const int file = ::open(trial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) throw UsageError(fmt::format("cannot write '{}': {}", out_, std::strerror(errno)));
    close(file);
    unlink(trial.c_str());
}

// In the place of what an earlier run has left, which goes only when the new file is there.
bandmill::DataFile StudyFiles::make(const bandmill::DataLayout& layout) {
    const std::string old = partial_ + ".old";
    std::shared_ptr<FileLock> old_lock = lock_;
    if (is_there(partial_)) {
        if (!old_lock) old_lock = std::make_shared<FileLock>(partial_);
        rename(partial_.c_str(), old.c_str());
    }
    try {
        bandmill::DataFile file = bandmill::DataFile::create(partial_, layout);
        lock_ = std::make_shared<FileLock>(partial_);
        unlink(old.c_str());
        return file;
    } catch (...) {
        if (is_there(old)) rename(old.c_str(), partial_.c_str());
        throw;
    }
}

bandmill::DataFile StudyFiles::open(const bandmill::DataLayout& layout, Start start, bandmill::Communicator& ranks) {
    std::optional<bandmill::DataFile> file;
    std::string failure; // its kind, and its text
    if (ranks.is_root()) try {
            if (start == Start::fresh || start == Start::overwrite) {
                refuse_existing(start == Start::overwrite);
                file.emplace(make(layout));
                bandmill::remove_checkpoint(checkpoint_);
            } else if (start == Start::resume) {
                file.emplace(make(layout));
            } else {
                if (!is_there(partial_))
                    throw bandmill::FileError(fmt::format("'{}', which holds the records so far, is not there: put it "
                                                          "beside the checkpoint, under this name",
                                                          partial_));
                file.emplace(bandmill::DataFile::open(partial_, layout));
            }
        } catch (const UsageError& error) {
            failure = fmt::format("U{}", error.what());
        } catch (const std::exception& error) {
            failure = fmt::format("F{}", error.what());
        }
    failure = ranks.broadcast(failure);
    if (failure.starts_with('U')) throw UsageError(failure.substr(1));
    if (!failure.empty()) throw bandmill::FileError(failure.substr(1));
    if (!file) file.emplace(bandmill::DataFile::open(partial_, layout));
    return std::move(*file);
}

void StudyFiles::publish(bool overwrite) const {
    // A link fails where a file stands; a rename would replace it.
    const bool named = overwrite ? rename(partial_.c_str(), out_.c_str()) == 0
                                 : link(partial_.c_str(), out_.c_str()) == 0 && unlink(partial_.c_str()) == 0;
    if (named) return;
    if (!overwrite && errno != EEXIST && rename(partial_.c_str(), out_.c_str()) == 0) return; // no links there
    throw bandmill::FileError(
        fmt::format("cannot give the finished file '{}' the name '{}': {}", partial_, out_, std::strerror(errno)));
}

void StudyFiles::leave(bool records) const {
    if (is_there(checkpoint_) || is_there(checkpoint_ + ".previous"))
        fmt::print(stderr, "bandmill: an error follows; go on from the last checkpoint with: bandmill resume {}\n",
                   checkpoint_);
    else if (records)
        fmt::print(stderr, "bandmill: an error follows; what was reached before it is in {}\n", partial_);
    else
        unlink(partial_.c_str());
}

} // namespace app
