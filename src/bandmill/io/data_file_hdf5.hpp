// HDF5's C interface with owners and exceptions. For data_file_structure.cpp only.
#pragma once

#include "bandmill/io/error.hpp"

#include <hdf5.h>

#include <utility>

namespace bandmill::detail {

// What is wrong, why, and what to do; with_file adds the file.
class Failure : public std::runtime_error {
  public:
    Failure(const std::string& what, const std::string& advice) : std::runtime_error(what + ": " + advice) {}
};

// HDF5 would print its errors; whoever else uses it in this process gets the setting back.
class Quiet {
  public:
    Quiet() {
        H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~Quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

  private:
    H5E_auto2_t function_ = nullptr;
    void* data_ = nullptr;
};

// The innermost of the errors that HDF5 has stacked up; of one of the disk, what the disk says.
inline std::string cause() {
    std::string found;
    H5Ewalk2(
        H5E_DEFAULT, H5E_WALK_UPWARD,
        [](unsigned, const H5E_error2_t* error, void* data) -> herr_t {
            auto& text = *static_cast<std::string*>(data);
            if (text.empty() && error->desc) text = error->desc;
            return 0;
        },
        &found);
    const std::string mark = "error message = '";
    if (const auto start = found.find(mark); start != std::string::npos) {
        const auto message = start + mark.size();
        return found.substr(message, found.find('\'', message) - message);
    }
    return found.empty() ? "HDF5 gives no reason" : found;
}

template <class Result> Result checked(Result result, const std::string& what) {
    if (result < 0) throw Failure(what + " (" + cause() + ")", "check the disk, or give another file");
    return result;
}

// Owner of anything that HDF5 has opened.
class Handle {
  public:
    using Closer = herr_t (*)(hid_t);
    Handle(hid_t id, Closer closer, const std::string& what) : id_(checked(id, what)), closer_(closer) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), closer_(other.closer_) {}
    Handle& operator=(Handle&&) = delete;
    ~Handle() {
        if (id_ >= 0) closer_(id_);
    }
    operator hid_t() const { return id_; }
    // Closing a file writes what HDF5 still holds back, and can fail.
    void close(const std::string& what) { checked(closer_(std::exchange(id_, H5I_INVALID_HID)), what); }

  private:
    hid_t id_;
    Closer closer_;
};

template <class Action> auto with_file(const std::string& path, Action action) {
    // HDF5 1.10 crashes at exit if a disk was full when it closed a file. There is nothing for it to do then: all files
    // are closed here.
    [[maybe_unused]] static const herr_t once = H5dont_atexit();
    const Quiet quiet;
    try {
        return action();
    } catch (const Failure& failure) {
        throw FileError("the file " + path + ": " + failure.what());
    }
}

} // namespace bandmill::detail
