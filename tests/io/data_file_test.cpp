// What a DataFile refuses, and what it does not; data_file_reading_test.py reads what it writes.
#include "data_files.hpp"

#include <limits>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bandmill::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST_F(DataFileTest, CountsItsBytes) {
    EXPECT_EQ(data_bytes(small_layout()), 3 * 8 + 12 * 4 + 4 * 8 + 8);
    EXPECT_EQ(data_bytes(layout_of(std::int64_t{1} << 40)), std::int64_t{1} << 44);
    expect_error<FileError>([] { data_bytes(layout_of(std::int64_t{1} << 60)); }, {"'u'", "too large"});
    EXPECT_EQ(data_bytes({}), 0);
}

template <class Change>
void refuse_layout(const std::string& path, Change change, std::initializer_list<std::string> words) {
    DataLayout layout = small_layout();
    change(layout);
    expect_error<FileError>([&] { DataFile::create(path, layout); }, words);
}

TEST_F(DataFileTest, RefusesLayoutsThatCannotBeStored) {
    auto refuse = [&](auto change, std::initializer_list<std::string> words) { refuse_layout(path(), change, words); };
    refuse([](auto& layout) { layout.dimensions[0].length = 0; }, {"'time'", "length 0", "1 or more"});
    refuse([](auto& layout) { layout.dimensions[1].length = -2; }, {"'member'", "-2"});
    refuse([](auto& layout) { layout.dimensions[1].name = "time"; }, {"'time'", "twice"});
    refuse([](auto& layout) { layout.dimensions[1].name = "two words"; }, {"'two words'"});
    refuse([](auto& layout) { layout.variables[1].name = "count"; }, {"'count'", "twice"});
    refuse([](auto& layout) { layout.variables[1].name = "a/b"; }, {"'a/b'", "letters"});
    refuse([](auto& layout) { layout.variables[1].name = ""; }, {"''"});
    refuse([](auto& layout) { layout.variables[1].name = "member"; }, {"'member'", "coordinate"});
    refuse([](auto& layout) { layout.variables[3].name = "member"; }, {"'member'", "coordinate"});
    refuse([](auto& layout) { layout.variables[1].dimensions[0] = "bin"; }, {"'mean'", "'bin'"});
    refuse([](auto& layout) { layout.variables[1].attributes = {{"NAME", "x"}}; }, {"'NAME'", "'mean'"});
    refuse([](auto& layout) { layout.variables[1].attributes = {{"_FillValue", 0.0}}; }, {"'_FillValue'"});
    refuse([](auto& layout) { layout.attributes.push_back({"seed", 1.0}); }, {"'seed'", "twice"});
    refuse([](auto& layout) { layout.attributes[0].value = std::string("a\0b", 3); }, {"'state'", "byte"});
    refuse([](auto& layout) { layout.dimensions[0].length = std::int64_t{1} << 61; }, {"too large"});
    EXPECT_EQ(files(), 0);
}

TEST_F(DataFileTest, WritesNothingOverAFile) {
    std::ofstream(path()) << "precious";
    expect_error<FileError>([&] { DataFile::create(path(), small_layout()); }, {path(), "already", "another name"});
    EXPECT_EQ(bytes(), "precious");
}

TEST_F(DataFileTest, NamesPlacesThatCannotBeWrittenTo) {
    expect_error<FileError>([&] { DataFile::create(path("no/such/a.nc"), small_layout()); }, {"No such", "folder"});
    std::ofstream(path("file")) << "x";
    expect_error<FileError>([&] { DataFile::create(path("file/a.nc"), small_layout()); }, {"Not a directory"});
    expect_error<FileError>([&] { DataFile::create("", small_layout()); }, {"No such"});
    expect_error<FileError>([&] { DataFile::open(path("missing"), small_layout()); }, {"missing", "No such"});
    expect_error<FileError>([&] { DataFile::open(folder_, small_layout()); }, {"directory"});
    EXPECT_EQ(files(), 1);
}

TEST_F(DataFileTest, NamesAFolderThatOthersOwn) {
    ::chmod(folder_.c_str(), 0555);
    // Nothing is forbidden to root, so that a child becomes nobody.
    const pid_t child = ::fork();
    if (child == 0) {
        if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
        expect_error<FileError>([&] { DataFile::create(path(), small_layout()); }, {"Permission denied", "may write"});
        ::_exit(HasFailure() ? 1 : 0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    ::chmod(folder_.c_str(), 0755);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(files(), 0);
}

TEST_F(DataFileTest, OpensItsOwnLayoutOnly) {
    DataFile::create(path(), small_layout());
    const std::string before = bytes();
    DataFile::open(path(), small_layout());
    auto refuse = [&](auto change, std::initializer_list<std::string> words) {
        DataLayout layout = small_layout();
        change(layout);
        expect_error<FileError>([&] { DataFile::open(path(), layout); }, words);
    };
    refuse([](auto& layout) { layout.variables[1].type = NumberType::f64; }, {"'mean'", "another type"});
    refuse([](auto& layout) { layout.variables[1].dimensions = {"time"}; }, {"'mean'", "2 dimensions instead of 1"});
    refuse([](auto& layout) { layout.variables[3].dimensions = {"time"}; }, {"'total'", "0 dimensions instead of 1"});
    refuse([](auto& layout) { layout.dimensions[1].length = 5; }, {"'member'", "length 4", "instead of 5"});
    refuse([](auto& layout) { layout.variables[1].name = "median"; }, {"no variable 'median'"});
    refuse([](auto& layout) { layout.variables.pop_back(); }, {"5 variables and dimensions", "instead of 4"});
    refuse(
        [](auto& layout) {
            layout.dimensions.push_back({"other", 4});
            layout.variables[1].dimensions[1] = "other";
        },
        {"'other'"});
    EXPECT_EQ(bytes(), before);
}

TEST_F(DataFileTest, TellsDimensionsOfEqualLengthApart) {
    DataLayout layout{
        .dimensions = {{"x", 4}, {"y", 4}}, .variables = {{"u", NumberType::f64, {"x", "y"}, {}}}, .attributes = {}};
    DataFile::create(path(), layout);
    layout.variables[0].dimensions = {"y", "x"};
    expect_error<FileError>([&] { DataFile::open(path(), layout); }, {"'u'", "not along 'y'"});
}

TEST_F(DataFileTest, RefusesFilesThatAreNone) {
    std::ofstream(path()) << std::string(5000, 'x');
    expect_error<FileError>([&] { DataFile::open(path(), small_layout()); }, {path(), "no HDF5 file"});
    std::ofstream(path("empty"));
    expect_error<FileError>([&] { DataFile::open(path("empty"), small_layout()); }, {"no HDF5 file"});
    DataFile::create(path("cut"), small_layout());
    std::filesystem::resize_file(path("cut"), std::filesystem::file_size(path("cut")) - 1);
    expect_error<FileError>([&] { DataFile::open(path("cut"), small_layout()); }, {"damaged"});
}

TEST_F(DataFileTest, WritesInsideOfItsVariablesOnly) {
    DataFile file = DataFile::create(path(), small_layout());
    const std::string before = bytes();
    const std::vector<double> five(5);
    expect_error<FileError>([&] { file.write("count", 0, five); }, {"5 values", "'count'", "has 4"});
    expect_error<FileError>([&] { file.write("mean", 8, five); }, {"number 8", "'mean'", "has 12"});
    expect_error<FileError>([&] { file.write("mean", -1, five); }, {"number -1"});
    expect_error<FileError>([&] { file.write("mean", std::numeric_limits<std::int64_t>::max(), five); }, {"mean"});
    expect_error<FileError>([&] { file.write("median", 0, five); }, {"no variable 'median'"});
    file.write("count", 4, std::vector<double>{}); // nothing, at the end
    EXPECT_EQ(bytes(), before);
}

TEST_F(DataFileTest, RefusesIntegersThatAreNone) {
    DataFile file = DataFile::create(path(), small_layout());
    for (const double value : {0.5, nan, 1e19, -1e19, 0x1p63, std::numeric_limits<double>::infinity()})
        expect_error<FileError>([&] { file.write("count", 0, std::vector{value}); }, {"'count'", "whole numbers"});
    expect_error<FileError>([&] { file.write("count", 0, std::vector{0.5f}); }, {"0.5"});
    file.write("count", 0, std::vector{-0x1p63, 0x1p53, -3.0});
    EXPECT_TRUE(
        holds(bytes(), as_bytes<std::int64_t>({std::numeric_limits<std::int64_t>::min(), std::int64_t{1} << 53, -3})));
}

// Larger than the buffer of the conversion, by a part of it.
TEST_F(DataFileTest, ConvertsMoreThanItsBuffer) {
    constexpr std::int64_t n = 300'001;
    DataLayout layout = layout_of(n);
    layout.variables.push_back({"single", NumberType::f32, {"x"}, {}});
    DataFile file = DataFile::create(path(), layout);
    std::vector<std::int64_t> integers(n);
    for (std::int64_t k = 0; k < n; ++k) integers[static_cast<std::size_t>(k)] = k * k;
    const std::vector<double> doubles(integers.begin(), integers.end());
    const std::vector<float> floats(integers.begin(), integers.end());
    file.write("u", 0, integers);
    file.write("n", 0, doubles);
    file.write("single", 0, doubles);
    const std::string stored = bytes();
    EXPECT_TRUE(holds(stored, as_bytes(doubles)));
    EXPECT_TRUE(holds(stored, as_bytes(integers)));
    EXPECT_TRUE(holds(stored, as_bytes(floats)));
}

TEST_F(DataFileTest, OverwritesAttributesInPlace) {
    DataFile file = DataFile::create(path(), small_layout());
    const auto size = std::filesystem::file_size(path());
    file.set_attribute("state", "end");
    EXPECT_TRUE(holds(bytes(), std::string("end\0\0", 5)));
    EXPECT_FALSE(holds(bytes(), "begun"));
    file.set_attribute("state", "");
    file.set_attribute("state", "again");
    EXPECT_TRUE(holds(bytes(), "again"));
    file.set_attribute("seed", std::int64_t{7});
    file.set_attribute("gamma", nan);
    const std::string before = bytes();
    expect_error<FileError>([&] { file.set_attribute("state", "longer"); }, {"'state'", "room for 5", "6"});
    expect_error<FileError>([&] { file.set_attribute("state", 1.0); }, {"'state'", "type"});
    expect_error<FileError>([&] { file.set_attribute("seed", 1.0); }, {"'seed'", "type"});
    expect_error<FileError>([&] { file.set_attribute("gamma", std::int64_t{1}); }, {"'gamma'", "type"});
    expect_error<FileError>([&] { file.set_attribute("gamma", "x"); }, {"'gamma'", "type"});
    expect_error<FileError>([&] { file.set_attribute("units", "x"); }, {"'units'", "not there"});
    expect_error<FileError>([&] { file.set_attribute("state", std::string(1, '\0')); }, {"'state'"});
    EXPECT_EQ(bytes(), before);
    EXPECT_EQ(std::filesystem::file_size(path()), size);
}

TEST_F(DataFileTest, FindsItsFileFromAnotherFolder) {
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder_);
    DataFile file = DataFile::create("a.nc", small_layout());
    std::filesystem::current_path(before);
    file.set_attribute("state", "moved");
    EXPECT_TRUE(holds(bytes(), "moved"));
}

TEST_F(DataFileTest, CanBeMoved) {
    DataFile first = DataFile::create(path("1"), small_layout());
    DataFile second = DataFile::create(path("2"), small_layout());
    second = std::move(first);
    second.write("total", 0, std::vector{1234.5});
    second.flush();
    EXPECT_TRUE(holds(bytes("1"), as_bytes<double>({1234.5})));
    EXPECT_FALSE(holds(bytes("2"), as_bytes<double>({1234.5})));
}

} // namespace
} // namespace bandmill::test
