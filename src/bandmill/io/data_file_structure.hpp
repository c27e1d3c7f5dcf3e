// The structure of a DataFile: all that HDF5 itself writes and reads. Values do not pass through here.
#pragma once

#include "bandmill/io/data_file.hpp"

namespace bandmill::detail {

// Writes the whole structure into the file at `path`, which is there and may be overwritten, with space for all values
// but without them. Returns the place of the first value of every variable, in bytes from the start of the file.
std::vector<std::int64_t> write_structure(const std::string& path, const DataLayout& layout);
// The same places, of a file that has that structure already. Throws FileError if it has another.
std::vector<std::int64_t> read_structure(const std::string& path, const DataLayout& layout);
void overwrite_attribute(const std::string& path, const std::string& name, const AttributeValue& value);

} // namespace bandmill::detail
