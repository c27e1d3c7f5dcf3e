// A DataFile on disks that are full, slow or without fallocate, and written by programs that are killed.
#include "data_files.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

// A disk that misbehaves, under HDF5 as well: these stand before the C library's own.
struct Disk {
    bool can_reserve = true;
    bool is_slow = false;   // every second write is interrupted, the others are short
    std::int64_t room = -1; // bytes that may still be written; -1: any
    std::int64_t writes = 0;
    std::int64_t bytes_written = 0;
};
Disk disk;

} // namespace

extern "C" int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    if (!disk.can_reserve) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_fallocate, descriptor, mode, offset, length));
}

extern "C" ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
    ++disk.writes;
    if (disk.is_slow && disk.writes % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    if (disk.is_slow && size > 1) size = std::min<size_t>((size + 1) / 2, 4000);
    if (disk.room >= 0 && disk.bytes_written + static_cast<std::int64_t>(size) > disk.room) {
        errno = ENOSPC;
        return -1;
    }
    const auto written = static_cast<ssize_t>(::syscall(SYS_pwrite64, descriptor, bytes, size, offset));
    if (written > 0) disk.bytes_written += written;
    return written;
}

// HDF5 forgets some of its memory when it cannot write.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhdf5"; }

namespace bandmill::test {
namespace {

class DataFileOnDiskTest : public DataFileTest {
  protected:
    void SetUp() override {
        disk = {};
        DataFileTest::SetUp();
    }
    void TearDown() override {
        disk = {};
        DataFileTest::TearDown();
    }
};

std::ptrdiff_t open_descriptors() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

TEST_F(DataFileOnDiskTest, WritesTheFillOnce) {
    const DataLayout layout = layout_of(1'000'000);
    DataFile::create(path(), layout);
    EXPECT_LT(disk.bytes_written, 8'000'000 + 20'000); // integers are 0 in reserved space
    disk = {.can_reserve = false};
    DataFile::create(path("b.nc"), layout);
    EXPECT_LT(disk.bytes_written, 16'000'000 + 20'000);
    EXPECT_EQ(bytes(), bytes("b.nc"));
    struct stat status;
    ASSERT_EQ(::stat(path("b.nc").c_str(), &status), 0);
    EXPECT_GE(status.st_blocks * 512, status.st_size); // no holes without fallocate either
}

TEST_F(DataFileOnDiskTest, GoesOnAfterInterruptedAndShortWrites) {
    for (const bool is_slow : {false, true}) {
        disk = {.is_slow = is_slow};
        DataFile file = DataFile::create(path(is_slow ? "slow" : "fast"), small_layout());
        file.write("mean", 0, std::vector(12, 1.25));
        file.write("time", 0, std::vector{1.0, 2.0, 3.0});
        file.set_attribute("state", "end");
    }
    EXPECT_EQ(bytes("slow"), bytes("fast"));
}

// Wherever the disk gets full - in HDF5, in the fill - nothing is left behind, and HDF5 can still be used.
TEST_F(DataFileOnDiskTest, LeavesNothingBehindWithoutSpace) {
    DataFile::create(path("whole"), layout_of(1000));
    const std::int64_t needed = disk.bytes_written;
    ASSERT_GT(needed, 8000);
    const std::ptrdiff_t descriptors = open_descriptors();
    for (std::int64_t room = 0; room < needed; room += 97) {
        disk = {.can_reserve = false, .room = room};
        expect_error<FileError>([&] { DataFile::create(path(), layout_of(1000)); }, {path(), "No space left"});
        disk = {};
        ASSERT_EQ(files(), 1) << room;
    }
    EXPECT_EQ(open_descriptors(), descriptors);
    DataFile::create(path(), layout_of(1000));
    EXPECT_EQ(bytes(), bytes("whole"));
}

TEST_F(DataFileOnDiskTest, NamesADiskThatFillsUpLater) {
    DataFile file = DataFile::create(path(), small_layout());
    disk.room = disk.bytes_written;
    expect_error<FileError>([&] { file.write("mean", 0, std::vector{1.0}); }, {path(), "No space left", "make room"});
    expect_error<FileError>([&] { file.set_attribute("state", "end"); }, {"'state'", "No space left"});
    disk = {};
    file.write("mean", 0, std::vector{1.0});
    file.set_attribute("state", "good");
    EXPECT_TRUE(holds(bytes(), "good"));
    DataFile::open(path(), small_layout());
}

// A disk of 1 MiB, of this process alone. Returns false where it may not be mounted.
bool mount_small_disk(const std::string& folder) {
    return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount("none", folder.c_str(), "tmpfs", 0, "size=1m") == 0;
}

TEST_F(DataFileOnDiskTest, NamesAFullDisk) {
    if (!mount_small_disk(folder_)) GTEST_SKIP() << "no disk can be mounted here";
    expect_error<FileError>([&] { DataFile::create(path(), layout_of(100'000)); },
                            {path(), "bytes", "No space left", "make room"});
    EXPECT_EQ(disk.bytes_written, 0); // known before anything is written
    EXPECT_EQ(files(), 0);
    std::ofstream(path("ballast")) << std::string((1 << 20) - 8192, 'x');
    expect_error<FileError>([&] { DataFile::create(path(), layout_of(100)); }, {"No space left"});
    EXPECT_EQ(files(), 1);
    std::filesystem::remove(path("ballast"));
    DataFile::create(path(), layout_of(100)).write("u", 0, std::vector(100, 1.0));
    std::filesystem::remove(path());
    ::umount(folder_.c_str());
}

TEST_F(DataFileOnDiskTest, OpensAfterItsWriterWasKilled) {
    const DataLayout layout = layout_of(100'000);
    for (const useconds_t microseconds : {0, 300, 1000, 3000, 10'000}) {
        DataFile::create(path(), layout);
        const pid_t child = ::fork();
        if (child == 0) {
            DataFile file = DataFile::open(path(), layout);
            for (double value = 0;; ++value) file.write("u", 0, std::vector(100'000, value));
        }
        ::usleep(microseconds);
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        DataFile::open(path(), layout).write("u", 0, std::vector(100'000, -1.0));
        EXPECT_TRUE(holds(bytes(), as_bytes(std::vector(100'000, -1.0))));
        std::filesystem::remove(path());
    }
}

} // namespace
} // namespace bandmill::test
