#include "bandmill/io/data_file.hpp"

#include "bandmill/base/text.hpp"
#include "bandmill/io/data_file_layout.hpp"
#include "bandmill/io/data_file_structure.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace bandmill {
namespace {

static_assert(std::endian::native == std::endian::little, "values are written as they stand in memory");
static_assert(sizeof(off_t) == 8);

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

std::string advice(int error) {
    switch (error) {
    case ENOSPC:
    case EDQUOT: return "make room, or give a place on another disk";
    case EFBIG: return "ask for less, or give a place on a disk that takes files this large";
    case ENOENT: return "make its folder first, or give another name";
    case EACCES:
    case EPERM:
    case EROFS: return "give a place that you may write to";
    default: return "give another name, or check the disk";
    }
}

[[noreturn]] void fail(const std::string& what, int error) {
    throw FileError(what + " (" + std::strerror(error) + "): " + advice(error));
}

class Descriptor {
  public:
    explicit Descriptor(int number) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&&) = delete;
    ~Descriptor() {
        if (number_ >= 0) ::close(number_);
    }
    operator int() const { return number_; }

  private:
    int number_;
};

void write_bytes(int descriptor, const std::string& path, const void* bytes, std::size_t size, std::int64_t offset) {
    const char* next = static_cast<const char*>(bytes);
    while (size > 0) {
        const ssize_t written = ::pwrite(descriptor, next, size, offset);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) fail("the file " + path + " cannot be written", written < 0 ? errno : EIO);
        next += written;
        offset += written;
        size -= static_cast<std::size_t>(written);
    }
}

// False where the file system cannot reserve space. Linux's own call, because posix_fallocate would then write to every
// block of the file, and the fill does that already.
bool reserve(int descriptor, const std::string& path, std::int64_t bytes) {
    while (::fallocate(descriptor, 0, 0, bytes) != 0) {
        if (errno == EINTR) continue;
        if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return false;
        fail("the file " + path + " cannot have its " + std::to_string(bytes) + " bytes", errno);
    }
    return true;
}

template <class Stored> std::optional<Stored> converted(double value) {
    if constexpr (std::is_same_v<Stored, std::int64_t>)
        if (!(value >= -0x1p63 && value < 0x1p63) || value != std::trunc(value)) return {};
    return static_cast<Stored>(value); // beyond the range of float: infinity
}
template <class Stored> std::optional<Stored> converted(std::int64_t value) { return static_cast<Stored>(value); }

// Removes a file that was begun, unless it was finished.
struct Unfinished {
    std::string path;
    bool is_finished = false;
    ~Unfinished() {
        if (!is_finished) ::unlink(path.c_str());
    }
};

struct Place {
    NumberType type;
    std::int64_t count;
    std::int64_t offset; // bytes
};

} // namespace

struct DataFile::Data {
    std::string path; // absolute: set_attribute opens it again, wherever the program then is
    Descriptor descriptor;
    std::map<std::string, Place> places;

    void find_places(const DataLayout& layout, const std::vector<std::int64_t>& offsets) {
        for (std::size_t k = 0; k < offsets.size(); ++k) {
            const Variable& variable = layout.variables[k];
            places[variable.name] = {variable.type, detail::count_of(layout, variable), offsets[k]};
        }
    }
    std::int64_t size() const {
        struct stat status;
        if (::fstat(descriptor, &status) != 0) fail("the file " + path + " cannot be read", errno);
        return status.st_size;
    }

    template <class Stored> void fill(const Place& place, Stored value) const {
        const std::vector<Stored> buffer(std::min(static_cast<std::size_t>(place.count), buffer_bytes / sizeof(Stored)),
                                         value);
        for (std::int64_t done = 0; done < place.count;) {
            const std::int64_t now = std::min(place.count - done, static_cast<std::int64_t>(buffer.size()));
            const std::size_t bytes = static_cast<std::size_t>(now) * sizeof(Stored);
            write_bytes(descriptor, path, buffer.data(), bytes, place.offset + done * std::int64_t{sizeof(Stored)});
            done += now;
        }
    }

    // Once, after HDF5 is done: NaN for missing numbers of any size of variable. Space that was reserved reads as 0, so
    // that integers need no fill.
    void fill_all(bool is_reserved) const {
        for (const auto& [name, place] : places) {
            if (place.type == NumberType::f64) fill(place, std::numeric_limits<double>::quiet_NaN());
            if (place.type == NumberType::f32) fill(place, std::numeric_limits<float>::quiet_NaN());
            if (place.type == NumberType::i64 && !is_reserved) fill(place, std::int64_t{0});
        }
    }

    template <class Stored, class Given>
    void put(const std::string& variable, std::int64_t offset, std::span<const Given> values) const {
        if constexpr (std::is_same_v<Stored, Given>) {
            write_bytes(descriptor, path, values.data(), values.size_bytes(), offset);
        } else {
            std::vector<Stored> buffer(std::min(values.size(), buffer_bytes / sizeof(Stored)));
            for (std::size_t done = 0; done < values.size();) {
                const std::size_t now = std::min(values.size() - done, buffer.size());
                for (std::size_t k = 0; k < now; ++k) {
                    const std::optional<Stored> stored = converted<Stored>(values[done + k]);
                    if (!stored)
                        throw FileError("the number " + detail::text(static_cast<double>(values[done + k])) +
                                        " cannot be written to the variable '" + variable + "' of " + path +
                                        " (which holds integers of 64 bits): give whole numbers");
                    buffer[k] = *stored;
                }
                write_bytes(descriptor, path, buffer.data(), now * sizeof(Stored),
                            offset + static_cast<std::int64_t>(done * sizeof(Stored)));
                done += now;
            }
        }
    }

    template <class Given>
    void write(const std::string& variable, std::int64_t first, std::span<const Given> values) const {
        const auto found = places.find(variable);
        if (found == places.end())
            throw FileError("the file " + path + " has no variable '" + variable +
                            "' to write to: name one that it has");
        const auto& [type, count, start] = found->second;
        if (first < 0 || first > count || values.size() > static_cast<std::size_t>(count - first))
            throw FileError(std::to_string(values.size()) + " values from number " + std::to_string(first) +
                            " on do not fit into the variable '" + variable + "' of " + path + " (it has " +
                            std::to_string(count) + "): write inside of it");
        const std::int64_t offset = start + first * detail::bytes_each(type);
        if (type == NumberType::f64) put<double>(variable, offset, values);
        if (type == NumberType::f32) put<float>(variable, offset, values);
        if (type == NumberType::i64) put<std::int64_t>(variable, offset, values);
    }
};

DataFile::DataFile(std::unique_ptr<Data> data) : data_(std::move(data)) {}
DataFile::DataFile(DataFile&&) noexcept = default;
DataFile& DataFile::operator=(DataFile&&) noexcept = default;
DataFile::~DataFile() = default;

DataFile DataFile::create(const std::string& path, const DataLayout& layout) {
    detail::check_layout(layout);
    Descriptor descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (descriptor < 0 && errno == EEXIST)
        throw FileError("the file " + path +
                        " is there already (it is not overwritten): give another name, or remove it");
    if (descriptor < 0) fail("the file " + path + " cannot be made", errno);
    Unfinished file{std::filesystem::absolute(path)};
    // Tried before HDF5 comes into it, which does not recover from a disk that is full when it closes a file.
    reserve(descriptor, path, data_bytes(layout) + detail::estimated_header_bytes(layout));
    auto data = std::unique_ptr<Data>(new Data{file.path, std::move(descriptor), {}});
    data->find_places(layout, detail::write_structure(file.path, layout));
    data->fill_all(reserve(data->descriptor, path, data->size()));
    file.is_finished = true;
    return DataFile(std::move(data));
}

DataFile DataFile::open(const std::string& path, const DataLayout& layout) {
    detail::check_layout(layout);
    Descriptor descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (descriptor < 0) fail("the file " + path + " cannot be opened for writing", errno);
    auto data = std::unique_ptr<Data>(new Data{std::filesystem::absolute(path), std::move(descriptor), {}});
    data->find_places(layout, detail::read_structure(data->path, layout));
    return DataFile(std::move(data));
}

void DataFile::write(const std::string& variable, std::int64_t first, std::span<const double> values) {
    data_->write(variable, first, values);
}
void DataFile::write(const std::string& variable, std::int64_t first, std::span<const float> values) {
    data_->write(variable, first, values);
}
void DataFile::write(const std::string& variable, std::int64_t first, std::span<const std::int64_t> values) {
    data_->write(variable, first, values);
}

void DataFile::set_attribute(const std::string& name, const AttributeValue& value) {
    detail::check_text(name, value);
    detail::overwrite_attribute(data_->path, name, value);
}

void DataFile::flush() {
    while (::fsync(data_->descriptor) != 0)
        if (errno != EINTR) fail("the file " + data_->path + " cannot be brought onto the disk", errno);
}

} // namespace bandmill
