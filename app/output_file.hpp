// A result file that appears whole or not at all.
#pragma once

#include <string>

namespace app {

enum class Overwrite { no, yes };

class OutputFile {
  public:
    // Throws UsageError if the file could not be written later: its folder is missing or read-only, something stands
    // there already. Leaves nothing behind, so an interrupted run does not either.
    OutputFile(std::string path, Overwrite overwrite);

    // Writes a temporary file beside the target, then renames it.
    void write(const std::string& text) const;
    const std::string& path() const { return path_; }

  private:
    void refuse_existing() const;
    int create_temporary() const; // its descriptor; -1 and errno on failure

    std::string path_, temporary_;
    Overwrite overwrite_;
};

} // namespace app
