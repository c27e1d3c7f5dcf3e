// Layouts, and a folder to write files into.
#pragma once

#include "bandmill/io/data_file.hpp"

#include "../base/expect_error.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace bandmill::test {

inline DataLayout small_layout() {
    return {.dimensions = {{"time", 3}, {"member", 4}},
            .variables = {{"time", NumberType::f64, {"time"}, {{"units", "1"}}},
                          {"mean", NumberType::f32, {"time", "member"}, {}},
                          {"count", NumberType::i64, {"member"}, {}},
                          {"total", NumberType::f64, {}, {}}},
            .attributes = {{"state", "begun"}, {"seed", std::int64_t{1}}, {"gamma", 0.5}}};
}

inline DataLayout layout_of(std::int64_t numbers) {
    return {.dimensions = {{"x", numbers}},
            .variables = {{"u", NumberType::f64, {"x"}, {}}, {"n", NumberType::i64, {"x"}, {}}},
            .attributes = {}};
}

class DataFileTest : public testing::Test {
  protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "data_file_XXXXXX";
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string path(const std::string& name = "a.nc") const { return folder_ / name; }
    std::ptrdiff_t files() const {
        return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
    }
    std::string bytes(const std::string& name = "a.nc") const {
        std::ifstream file(path(name), std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::filesystem::path folder_;
};

// Not string::find: the address sanitizer makes it look at the whole of `part` for every place.
inline bool holds(const std::string& whole, const std::string& part) {
    return std::search(whole.begin(), whole.end(), part.begin(), part.end()) != whole.end();
}

template <class T> std::string as_bytes(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

} // namespace bandmill::test
