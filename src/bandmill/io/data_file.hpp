// DataFile: results in one self-describing HDF5 file that is also valid netCDF-4.
//
// A file is complete in structure from the start: all dimensions are known before a run, every dataset is contiguous,
// allocated, and its space on the disk is reserved. Values are then written straight to their places, by any rank, and
// no crash can leave a file that cannot be opened: what is missing reads as NaN (or 0, for integers).
#pragma once

#include "bandmill/io/error.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace bandmill {

using AttributeValue = std::variant<std::string, double, std::int64_t>;
struct Attribute {
    std::string name;
    AttributeValue value;
};

enum class NumberType { f64, f32, i64 };

struct Dimension {
    std::string name;
    std::int64_t length;
};
struct Variable {
    std::string name; // that of a dimension makes it the dimension's coordinate
    NumberType type;
    std::vector<std::string> dimensions; // the last one is contiguous; none: a single number
    std::vector<Attribute> attributes;   // long_name, units, ...
};
struct DataLayout {
    std::vector<Dimension> dimensions;
    std::vector<Variable> variables;
    std::vector<Attribute> attributes; // of the whole file
};

class DataFile {
  public:
    // Makes the file, which must not exist. Throws FileError: "no space left", say, before the run instead of after it.
    static DataFile create(const std::string& path, const DataLayout& layout);
    // One that create has made, to write more into it. Throws FileError if its variables are not those of `layout`.
    static DataFile open(const std::string& path, const DataLayout& layout);
    DataFile(DataFile&&) noexcept;
    DataFile& operator=(DataFile&&) noexcept;
    ~DataFile(); // closes it; the file stays

    // Values first .. first + values.size() - 1 of the variable, counted in the order they are stored in; they are
    // converted to its type. Throws FileError.
    void write(const std::string& variable, std::int64_t first, std::span<const double> values);
    void write(const std::string& variable, std::int64_t first, std::span<const float> values);
    void write(const std::string& variable, std::int64_t first, std::span<const std::int64_t> values);
    // Another value for an attribute that the file has: of the same type, a text no longer than the one it was made
    // with.
    void set_attribute(const std::string& name, const AttributeValue& value);
    // Onto the disk.
    void flush();

  private:
    struct Data;
    explicit DataFile(std::unique_ptr<Data> data);
    std::unique_ptr<Data> data_;
};

// Bytes of a file with this layout, without its headers.
std::int64_t data_bytes(const DataLayout& layout);

} // namespace bandmill
