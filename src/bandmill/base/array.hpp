// Array owns memory in one space; views over it are made by base/field.hpp. Move-only: copies are explicit.
#pragma once

#include "bandmill/base/error.hpp"
#include "bandmill/base/space.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace bandmill {

// Raw memory. The CUDA versions throw BackendUnavailable in a build without CUDA.
void* allocate(Host, std::size_t bytes); // 64-byte aligned
void* allocate(Cuda, Device device, std::size_t bytes);
void release(Host, void* memory) noexcept;
void release(Cuda, Device device, void* memory) noexcept;

// Blocking copies between host and device memory.
void copy_to_device(Device device, void* to, const void* from, std::size_t bytes);
void copy_to_host(Device device, void* to, const void* from, std::size_t bytes);
// Device to device, asynchronous on the stream.
void copy_on_device(Device device, void* to, const void* from, std::size_t bytes, Stream stream = {});
// Waits until the stream's work is done; throws DeviceError if some of it failed.
void synchronize(Device device, Stream stream = {});
std::size_t free_memory(Device device);

namespace detail {
inline std::size_t array_bytes(std::int64_t size, std::size_t element) {
    if (size < 0 || static_cast<std::uint64_t>(size) > SIZE_MAX / 2 / element)
        throw InvalidArgument("an array cannot hold " + std::to_string(size) +
                              " elements (sizes run from 0 to what memory can address): check the size");
    return static_cast<std::size_t>(size) * element;
}
} // namespace detail

template <class T, class Space> class Array; // new elements hold anything

template <class T> class Array<T, Host> {
    static_assert(std::is_trivially_copyable_v<T>, "an Array holds plain values");

  public:
    Array() = default;
    explicit Array(std::int64_t size)
        : data_(static_cast<T*>(allocate(Host{}, detail::array_bytes(size, sizeof(T))))), size_(size) {}
    explicit Array(std::span<const T> values) : Array(static_cast<std::int64_t>(values.size())) {
        for (std::size_t i = 0; i < values.size(); ++i) data_[i] = values[i];
    }
    Array(Array&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Array& operator=(Array&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Array() { release(Host{}, data_); }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::int64_t size() const { return size_; }
    T& operator[](std::int64_t i) { return data_[i]; }
    const T& operator[](std::int64_t i) const { return data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }

  private:
    T* data_ = nullptr;
    std::int64_t size_ = 0;
};

template <class T> class Array<T, Cuda> {
    static_assert(std::is_trivially_copyable_v<T>, "an Array holds plain values");

  public:
    Array() = default;
    explicit Array(std::int64_t size, Device device = {})
        : data_(static_cast<T*>(allocate(Cuda{}, device, detail::array_bytes(size, sizeof(T))))), size_(size),
          device_(device) {}
    explicit Array(std::span<const T> host, Device device = {})
        : Array(static_cast<std::int64_t>(host.size()), device) {
        copy_from(host);
    }
    Array(Array&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), device_(other.device_) {}
    Array& operator=(Array&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(device_, other.device_);
        return *this;
    }
    ~Array() { release(Cuda{}, device_, data_); }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::int64_t size() const { return size_; }
    Device device() const { return device_; }

    void copy_from(std::span<const T> host) {
        require_size(host.size());
        copy_to_device(device_, data_, host.data(), host.size_bytes());
    }
    void copy_to(std::span<T> host) const {
        require_size(host.size());
        copy_to_host(device_, host.data(), data_, host.size_bytes());
    }

  private:
    void require_size(std::size_t size) const {
        if (size != static_cast<std::size_t>(size_))
            throw InvalidArgument("cannot copy between " + std::to_string(size) +
                                  " host elements and a device array of " + std::to_string(size_) +
                                  ": the sizes must agree");
    }
    T* data_ = nullptr;
    std::int64_t size_ = 0;
    Device device_;
};

} // namespace bandmill
