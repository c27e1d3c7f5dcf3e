#include "bandmill/io/data_file_structure.hpp"

#include "bandmill/io/data_file_hdf5.hpp"

#include <hdf5_hl.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

namespace bandmill::detail {
namespace {

constexpr const char* as_it_was_made = "give the file and the options that it was made with, or another name";

std::string quoted(const std::string& name) { return "'" + name + "'"; }

hid_t stored_type(NumberType type) {
    if (type == NumberType::f64) return H5T_IEEE_F64LE;
    return type == NumberType::f32 ? H5T_IEEE_F32LE : H5T_STD_I64LE;
}

Handle text_type(std::size_t length) {
    const std::string what = "a type for texts cannot be made";
    Handle type(H5Tcopy(H5T_C_S1), H5Tclose, what);
    checked(H5Tset_size(type, std::max<std::size_t>(1, length)), what); // HDF5 has no texts of length 0
    checked(H5Tset_strpad(type, H5T_STR_NULLPAD), what);
    checked(H5Tset_cset(type, H5T_CSET_UTF8), what);
    return type;
}

void make_attribute(hid_t holder, const std::string& name, hid_t type, const void* value) {
    const std::string what = "the attribute " + quoted(name) + " cannot be written";
    const Handle space(H5Screate(H5S_SCALAR), H5Sclose, what);
    const Handle attribute(H5Acreate2(holder, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, what);
    checked(H5Awrite(attribute, type, value), what);
}

void make_attributes(hid_t holder, const std::vector<Attribute>& attributes) {
    for (const auto& [name, value] : attributes) {
        if (const auto* text = std::get_if<std::string>(&value))
            make_attribute(holder, name, text_type(text->size()), text->c_str());
        else if (const auto* number = std::get_if<double>(&value))
            make_attribute(holder, name, H5T_IEEE_F64LE, number);
        else
            make_attribute(holder, name, H5T_STD_I64LE, &std::get<std::int64_t>(value));
    }
}

// Format 1.8, which every netCDF-4 reads. In later ones, a crash within set_attribute leaves a mark for which HDF5
// refuses to open the file.
Handle file_access() {
    Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "HDF5 cannot be used");
    checked(H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18), "HDF5 cannot be used");
    // A reader that has the file open, to look at a run under way, must not make set_attribute fail.
#if H5_VERSION_GE(1, 12, 1) || (H5_VERS_MINOR == 10 && H5_VERSION_GE(1, 10, 7))
    checked(H5Pset_file_locking(access, false, true), "HDF5 cannot be used");
#endif
    return access;
}

// netCDF numbers variables and attributes by their order of creation. Without times, equal results are equal bytes.
void keep_order(hid_t creation) {
    checked(H5Pset_attr_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), "HDF5 cannot be used");
    checked(H5Pset_obj_track_times(creation, false), "HDF5 cannot be used");
}

Handle make_file(const std::string& path) {
    const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "HDF5 cannot be used");
    keep_order(creation);
    checked(H5Pset_link_creation_order(creation, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), "HDF5 cannot be used");
    return {H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation, file_access()), H5Fclose, "it cannot be written"};
}

std::vector<hsize_t> extents(const DataLayout& layout, const Variable& variable) {
    std::vector<hsize_t> lengths;
    for (const std::string& name : variable.dimensions)
        for (const Dimension& dimension : layout.dimensions)
            if (dimension.name == name) lengths.push_back(static_cast<hsize_t>(dimension.length));
    return lengths;
}

Handle make_space(const std::vector<hsize_t>& lengths) {
    return {lengths.empty() ? H5Screate(H5S_SCALAR)
                            : H5Screate_simple(static_cast<int>(lengths.size()), lengths.data(), nullptr),
            H5Sclose, "a shape cannot be made"};
}

bool is_coordinate(const DataLayout& layout, const std::string& variable) {
    return std::any_of(layout.dimensions.begin(), layout.dimensions.end(),
                       [&](const Dimension& dimension) { return dimension.name == variable; });
}

// Integers have no _FillValue: readers would take a 0 that was counted for one that is missing. Coordinates have none
// because the CF conventions forbid it.
void make_fill_attribute(hid_t dataset, NumberType type) {
    constexpr double missing_f64 = std::numeric_limits<double>::quiet_NaN();
    constexpr float missing_f32 = std::numeric_limits<float>::quiet_NaN();
    if (type == NumberType::f64) make_attribute(dataset, "_FillValue", H5T_IEEE_F64LE, &missing_f64);
    if (type == NumberType::f32) make_attribute(dataset, "_FillValue", H5T_IEEE_F32LE, &missing_f32);
}

Handle make_variable(hid_t file, const DataLayout& layout, const Variable& variable) {
    const std::string what = "the variable " + quoted(variable.name) + " cannot be made";
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, what);
    keep_order(creation);
    checked(H5Pset_layout(creation, H5D_CONTIGUOUS), what);
    checked(H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY), what);
    // DataFile fills variables itself, once their space is reserved: HDF5 would find out half-way that the disk is
    // full.
    checked(H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER), what);
    constexpr double missing = std::numeric_limits<double>::quiet_NaN();
    if (variable.type != NumberType::i64) checked(H5Pset_fill_value(creation, H5T_NATIVE_DOUBLE, &missing), what);
    Handle dataset(H5Dcreate2(file, variable.name.c_str(), stored_type(variable.type),
                              make_space(extents(layout, variable)), H5P_DEFAULT, creation, H5P_DEFAULT),
                   H5Dclose, what);
    if (!is_coordinate(layout, variable.name)) make_fill_attribute(dataset, variable.type);
    make_attributes(dataset, variable.attributes);
    return dataset;
}

// A dimension without a coordinate, as netCDF makes it: a dataset that is never written and takes no space.
Handle make_bare_dimension(hid_t file, const Dimension& dimension) {
    const std::string what = "the dimension " + quoted(dimension.name) + " cannot be made";
    const Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, what);
    keep_order(creation);
    return {H5Dcreate2(file, dimension.name.c_str(), H5T_IEEE_F32LE,
                       make_space({static_cast<hsize_t>(dimension.length)}), H5P_DEFAULT, creation, H5P_DEFAULT),
            H5Dclose, what};
}

using Datasets = std::map<std::string, Handle>;

Datasets make_datasets(hid_t file, const DataLayout& layout) {
    Datasets datasets;
    for (const Variable& variable : layout.variables)
        datasets.emplace(variable.name, make_variable(file, layout, variable));
    for (const Dimension& dimension : layout.dimensions)
        if (!datasets.contains(dimension.name)) datasets.emplace(dimension.name, make_bare_dimension(file, dimension));
    return datasets;
}

void name_dimensions(const DataLayout& layout, const Datasets& datasets) {
    for (std::size_t number = 0; number < layout.dimensions.size(); ++number) {
        const Dimension& dimension = layout.dimensions[number];
        char bare[80]; // netCDF knows a dimension without a coordinate by exactly this text
        std::snprintf(bare, sizeof bare, "This is a netCDF dimension but not a netCDF variable.%10lld",
                      static_cast<long long>(dimension.length));
        const bool has_variable =
            std::any_of(layout.variables.begin(), layout.variables.end(),
                        [&](const Variable& variable) { return variable.name == dimension.name; });
        const hid_t scale = datasets.at(dimension.name);
        checked(H5DSset_scale(scale, has_variable ? dimension.name.c_str() : bare),
                "the dimension " + quoted(dimension.name) + " cannot be made");
        const auto dimension_number = static_cast<std::int32_t>(number);
        make_attribute(scale, "_Netcdf4Dimid", H5T_STD_I32LE, &dimension_number);
    }
    for (const Variable& variable : layout.variables)
        for (unsigned axis = 0; axis < variable.dimensions.size(); ++axis)
            if (variable.dimensions[axis] != variable.name) // a coordinate is its own dimension
                checked(H5DSattach_scale(datasets.at(variable.name), datasets.at(variable.dimensions[axis]), axis),
                        "the variable " + quoted(variable.name) + " cannot be given its dimensions");
}

std::int64_t place_of(hid_t dataset, const std::string& name) {
    const haddr_t place = H5Dget_offset(dataset);
    if (place == HADDR_UNDEF) throw Failure("the variable " + quoted(name) + " has no place in it", as_it_was_made);
    return static_cast<std::int64_t>(place);
}

void check_axis(hid_t file, const Variable& variable, hid_t dataset, unsigned axis) {
    const std::string& name = variable.dimensions[axis];
    const std::string what = "the variable " + quoted(variable.name) + " is not along " + quoted(name);
    if (checked(H5Lexists(file, name.c_str(), H5P_DEFAULT), what) == 0) throw Failure(what, as_it_was_made);
    const Handle scale(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, what);
    const htri_t is_along = name == variable.name ? H5DSis_scale(dataset) : H5DSis_attached(dataset, scale, axis);
    if (checked(is_along, what) == 0) throw Failure(what, as_it_was_made);
}

void check_variable(hid_t file, const DataLayout& layout, const Variable& variable, hid_t dataset) {
    const std::string what = "the variable " + quoted(variable.name), unreadable = what + " cannot be read";
    const Handle type(H5Dget_type(dataset), H5Tclose, unreadable);
    if (checked(H5Tequal(type, stored_type(variable.type)), unreadable) == 0)
        throw Failure(what + " has another type than expected", as_it_was_made);
    const Handle space(H5Dget_space(dataset), H5Sclose, unreadable);
    const std::vector<hsize_t> expected = extents(layout, variable);
    std::vector<hsize_t> lengths(static_cast<std::size_t>(checked(H5Sget_simple_extent_ndims(space), unreadable)));
    if (lengths.size() != expected.size())
        throw Failure(what + " has " + std::to_string(lengths.size()) + " dimensions instead of " +
                          std::to_string(expected.size()),
                      as_it_was_made);
    checked(H5Sget_simple_extent_dims(space, lengths.data(), nullptr), unreadable);
    for (unsigned axis = 0; axis < expected.size(); ++axis) {
        if (lengths[axis] != expected[axis])
            throw Failure(what + " has the length " + std::to_string(lengths[axis]) + " along " +
                              quoted(variable.dimensions[axis]) + " instead of " + std::to_string(expected[axis]),
                          as_it_was_made);
        check_axis(file, variable, dataset, axis);
    }
    const Handle creation(H5Dget_create_plist(dataset), H5Pclose, unreadable);
    if (H5Pget_layout(creation) != H5D_CONTIGUOUS) throw Failure(what + " is not stored in one piece", as_it_was_made);
}

Handle open_variable(hid_t file, const std::string& name) {
    const std::string what = "it has no variable " + quoted(name);
    if (checked(H5Lexists(file, name.c_str(), H5P_DEFAULT), what) == 0) throw Failure(what, as_it_was_made);
    return {H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, what};
}

// Datasets that the layout has: its variables, and its dimensions without one.
std::size_t count_datasets(const DataLayout& layout) {
    std::set<std::string> names;
    for (const Variable& variable : layout.variables) names.insert(variable.name);
    for (const Dimension& dimension : layout.dimensions) names.insert(dimension.name);
    return names.size();
}

bool has_type(hid_t type, const AttributeValue& value) {
    if (std::holds_alternative<std::string>(value))
        return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
    return H5Tequal(type, std::holds_alternative<double>(value) ? H5T_IEEE_F64LE : H5T_STD_I64LE) > 0;
}

void overwrite(hid_t attribute, const std::string& what, const AttributeValue& value) {
    const Handle type(H5Aget_type(attribute), H5Tclose, what + " cannot be read");
    if (!has_type(type, value)) throw Failure(what + " is of another type than its new value", "give one of its type");
    const auto* text = std::get_if<std::string>(&value);
    if (!text) {
        const void* number = std::get_if<double>(&value);
        checked(H5Awrite(attribute, type, number ? number : &std::get<std::int64_t>(value)),
                what + " cannot be written");
        return;
    }
    const std::size_t room = H5Tget_size(type);
    if (text->size() > room)
        throw Failure(what + " has room for " + std::to_string(room) + " bytes, and its new text has " +
                          std::to_string(text->size()),
                      "give a shorter text, or make the file with a longer one");
    std::string padded = *text;
    padded.resize(room);
    checked(H5Awrite(attribute, type, padded.data()), what + " cannot be written");
}

} // namespace

std::vector<std::int64_t> write_structure(const std::string& path, const DataLayout& layout) {
    return with_file(path, [&] {
        Handle file = make_file(path);
        std::vector<std::int64_t> places;
        {
            const Datasets datasets = make_datasets(file, layout);
            name_dimensions(layout, datasets);
            make_attributes(file, layout.attributes);
            for (const Variable& variable : layout.variables)
                places.push_back(place_of(datasets.at(variable.name), variable.name));
        }
        file.close("it cannot be written");
        return places;
    });
}

std::vector<std::int64_t> read_structure(const std::string& path, const DataLayout& layout) {
    return with_file(path, [&] {
        const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, file_access()), H5Fclose,
                          "it is no HDF5 file, or a damaged one");
        std::vector<std::int64_t> places;
        for (const Variable& variable : layout.variables) {
            const Handle dataset = open_variable(file, variable.name);
            check_variable(file, layout, variable, dataset);
            places.push_back(place_of(dataset, variable.name));
        }
        H5G_info_t contents;
        checked(H5Gget_info(file, &contents), "its contents cannot be read");
        if (const std::size_t expected = count_datasets(layout); contents.nlinks != expected)
            throw Failure("it has " + std::to_string(contents.nlinks) + " variables and dimensions instead of " +
                              std::to_string(expected),
                          as_it_was_made);
        return places;
    });
}

void overwrite_attribute(const std::string& path, const std::string& name, const AttributeValue& value) {
    with_file(path, [&] {
        const std::string what = "the attribute " + quoted(name);
        Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, file_access()), H5Fclose, what + " cannot be written");
        {
            if (checked(H5Aexists(file, name.c_str()), what + " cannot be read") == 0)
                throw Failure(what + " is not there", "name one that the file was made with");
            const Handle attribute(H5Aopen(file, name.c_str(), H5P_DEFAULT), H5Aclose, what + " cannot be read");
            overwrite(attribute, what, value);
        }
        file.close(what + " cannot be written");
    });
}

} // namespace bandmill::detail
