// A file that cannot be written or read, or whose contents cannot be trusted.
#pragma once

#include "bandmill/base/error.hpp"

namespace bandmill {

class FileError : public Error {
  public:
    using Error::Error;
};

} // namespace bandmill
