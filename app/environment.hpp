// What is known about this program and the machine it runs on.
#pragma once

#include <cstddef>
#include <string>

namespace app {

std::string commit();     // environment variable BANDMILL_COMMIT, else what was built in, else "unknown"
std::string compiler();   // "GNU 12.2.0"
std::string build_type(); // "Release"
std::string cpu_model();
int default_threads();
std::size_t available_memory(); // of the host, bytes
std::size_t cache_bytes();      // the CPU's last-level cache
double load_average();          // of the last minute: how many programs wanted a core; NaN if unknown
std::string busy_text(double load_average, int width = 8); // a line, or nothing where other programs take no time
std::string utc_now();                                     // ISO 8601

} // namespace app
