// A file that no other process uses: CTest runs each test in one of its own, several at once.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <unistd.h>

inline std::string own_file(const std::string& name) {
    return testing::TempDir() + std::to_string(getpid()) + "-" + name;
}
