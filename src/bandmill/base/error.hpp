// Every error bandmill throws. A text says what is wrong, why, and what to do; a type says which kind it is.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace bandmill {

// Catch this to catch them all.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// A size, stride, pointer or option that cannot be used.
class InvalidArgument : public Error {
  public:
    using Error::Error;
};

// A matrix entry that cannot be used: NaN, infinite, or out of the range of the chosen precision.
class InvalidMatrix : public Error {
  public:
    InvalidMatrix(const std::string& text, std::int64_t row) : Error(text), row_(row) {}
    std::int64_t row() const { return row_; }

  private:
    std::int64_t row_;
};

// The matrix has no inverse, to the precision of its own entries.
class SingularMatrix : public Error {
  public:
    SingularMatrix(const std::string& text, std::int64_t row) : Error(text), row_(row) {}
    std::int64_t row() const { return row_; }

  private:
    std::int64_t row_;
};

// Members of an ensemble are no longer finite: the time step is too long for what they have become.
class Unstable : public Error {
  public:
    Unstable(const std::string& text, std::int64_t member, double time) : Error(text), member_(member), time_(time) {}
    std::int64_t member() const { return member_; } // the first that was noticed
    double time() const { return time_; }           // when it was

  private:
    std::int64_t member_;
    double time_;
};

// The backend asked for was not built, or its device is not there.
class BackendUnavailable : public Error {
  public:
    using Error::Error;
};

// The host has not enough memory.
class OutOfMemory : public Error {
  public:
    using Error::Error;
};

// A call of the device's runtime failed.
class DeviceError : public Error {
  public:
    using Error::Error;
};

} // namespace bandmill
