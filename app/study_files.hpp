// The files of a study: NAME appears when it is finished; until then there are NAME.partial and, for a run that was
// stopped or lasts, NAME.checkpoint.
#pragma once

#include "file_lock.hpp"

#include "bandmill/dist/communicator.hpp"
#include "bandmill/io/data_file.hpp"

#include <memory>
#include <string>

namespace app {

enum class Start {
    fresh,
    overwrite,
    resume,         // all results come at the end: the file is made anew
    resume_records, // the file holds records already
};

class StudyFiles {
  public:
    // `checkpoint`: the one that is resumed, empty if none is, and the lock on what it goes on with. Throws UsageError
    // for a name that is none.
    StudyFiles(const std::string& out, const std::string& checkpoint, std::shared_ptr<FileLock> lock = {});
    // May another file of that name be written, or is it one of these?
    bool concerns(const std::string& path) const;
    void refuse_own(const std::string& summary) const; // what --json names; throws UsageError
    void try_folder() const;                           // throws UsageError where no file can be made

    const std::string& out() const { return out_; }
    const std::string& partial() const { return partial_; }
    const std::string& checkpoint() const { return checkpoint_; }

    // Collective: rank 0 makes the file (or finds that of the run that is resumed), the others open it. Throws
    // UsageError if it cannot be had: something stands there, the folder cannot be written to; FileError for a full
    // disk. Nothing is left behind then.
    bandmill::DataFile open(const bandmill::DataLayout& layout, Start start, bandmill::Communicator& ranks);
    // Gives the finished file its name. Throws FileError.
    void publish(bool overwrite) const;
    // After an error: what can be resumed stays, and is pointed out; the rest goes.
    void leave(bool records) const;

  private:
    void refuse_existing(bool overwrite) const;
    bandmill::DataFile make(const bandmill::DataLayout& layout);

    std::shared_ptr<FileLock> lock_; // of the partial file
    std::string out_, partial_, checkpoint_;
};

} // namespace app
