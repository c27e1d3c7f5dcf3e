#include "bandmill/io/data_file_layout.hpp"

#include <algorithm>
#include <set>

namespace bandmill {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 61;

// Names that every reader takes, and Python as attributes: data.mean_energy.
void check_name(const std::string& kind, const std::string& name) {
    auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    auto is_allowed = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
    if (name.empty() || !is_letter(name[0]) || !std::all_of(name.begin(), name.end(), is_allowed))
        throw FileError("the " + kind + " '" + name +
                        "' cannot be stored (readers take letters, digits and _ , a letter first): give another name");
}

void check_attributes(const std::string& holder, const std::vector<Attribute>& attributes) {
    std::set<std::string> names{"CLASS", "NAME", "REFERENCE_LIST", "DIMENSION_LIST", "DIMENSION_LABELS"}; // HDF5's own
    for (const auto& [name, value] : attributes) {
        check_name("attribute", name);
        detail::check_text(name, value);
        if (!names.insert(name).second)
            throw FileError("the attribute '" + name + "' of " + holder +
                            " cannot be stored (it is there twice, or HDF5 needs the name): give another name");
    }
}

std::int64_t length_of(const DataLayout& layout, const Variable& variable, const std::string& dimension) {
    for (const Dimension& one : layout.dimensions)
        if (one.name == dimension) return one.length;
    throw FileError("the variable '" + variable.name + "' is along '" + dimension +
                    "' (which is no dimension of the file): add the dimension, or name another");
}

void check_dimensions(const DataLayout& layout) {
    std::set<std::string> names;
    for (const auto& [name, length] : layout.dimensions) {
        check_name("dimension", name);
        if (length < 1) // netCDF takes a length of 0 for one that may still grow
            throw FileError("the dimension '" + name + "' cannot have the length " + std::to_string(length) +
                            ": give 1 or more, or leave out what would be along it");
        if (!names.insert(name).second)
            throw FileError("the dimension '" + name + "' is there twice: give every dimension a name of its own");
    }
}

} // namespace

namespace detail {

void check_text(const std::string& name, const AttributeValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    if (text && text->find('\0') != std::string::npos)
        throw FileError("the text of the attribute '" + name +
                        "' cannot be stored (a byte of it is 0, which ends a text): leave that byte out");
}

std::int64_t bytes_each(NumberType type) { return type == NumberType::f32 ? 4 : 8; }

std::int64_t count_of(const DataLayout& layout, const Variable& variable) {
    std::int64_t count = 1;
    for (const std::string& dimension : variable.dimensions) {
        const std::int64_t length = std::max<std::int64_t>(1, length_of(layout, variable, dimension));
        if (count > most_bytes / bytes_each(variable.type) / length)
            throw FileError("the variable '" + variable.name +
                            "' is too large (it has more bytes than can be counted): ask for less");
        count *= length;
    }
    return count;
}

std::int64_t estimated_header_bytes(const DataLayout& layout) {
    // About 1 KiB for each of them was seen.
    std::int64_t bytes = 4096 * static_cast<std::int64_t>(1 + layout.dimensions.size() + layout.variables.size());
    auto add = [&](const std::vector<Attribute>& attributes) {
        for (const auto& [name, value] : attributes)
            bytes += 256 + (std::holds_alternative<std::string>(value) ? std::ssize(std::get<std::string>(value)) : 0);
    };
    add(layout.attributes);
    for (const Variable& variable : layout.variables) add(variable.attributes);
    return bytes;
}

void check_layout(const DataLayout& layout) {
    check_dimensions(layout);
    check_attributes("the file", layout.attributes);
    std::set<std::string> names;
    for (const Variable& variable : layout.variables) {
        check_name("variable", variable.name);
        check_attributes("the variable '" + variable.name + "'", variable.attributes);
        if (!names.insert(variable.name).second)
            throw FileError("the variable '" + variable.name + "' is there twice: give every variable its own name");
        const bool is_coordinate = std::any_of(layout.dimensions.begin(), layout.dimensions.end(),
                                               [&](const Dimension& one) { return one.name == variable.name; });
        if (is_coordinate && variable.dimensions != std::vector{variable.name})
            throw FileError("the variable '" + variable.name +
                            "' has the name of a dimension (that of a coordinate) but is not along that dimension "
                            "alone: give it another name");
    }
    data_bytes(layout);
}

} // namespace detail

std::int64_t data_bytes(const DataLayout& layout) {
    std::int64_t bytes = 0;
    for (const Variable& variable : layout.variables) {
        bytes += detail::count_of(layout, variable) * detail::bytes_each(variable.type);
        if (bytes > most_bytes)
            throw FileError("the variables are too large together (more bytes than can be counted): ask for less");
    }
    return bytes;
}

} // namespace bandmill
