// FileLock: a file that one process at a time may use. The lock goes with the process, however that ends.
#pragma once

#include <string>

namespace app {

class FileLock {
  public:
    // Throws UsageError if another process holds it for longer than some seconds (the ranks of a launcher that was
    // killed need a moment to end), or if the file cannot be opened.
    explicit FileLock(const std::string& path);
    ~FileLock();
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;

  private:
    int descriptor_;
};

} // namespace app
