#include "environment.hpp"

#include "commit.hpp"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <thread>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>
#ifdef _OPENMP
#include <omp.h>
#endif

namespace app {

std::string commit() {
    const char* given = std::getenv("BANDMILL_COMMIT");
    return given && *given ? given : BANDMILL_COMMIT;
}

std::string compiler() {
#if defined(__clang__)
    return fmt::format("Clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
    return fmt::format("GNU {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
    return "unknown";
#endif
}

std::string build_type() { return BANDMILL_BUILD_TYPE; }

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name"))
            if (const auto colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
    return "unknown CPU";
}

int default_threads() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
#endif
}

std::size_t available_memory() {
    std::ifstream file("/proc/meminfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("MemAvailable:")) return std::strtoull(line.c_str() + 13, nullptr, 10) * 1024;
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 2;
}

std::size_t cache_bytes() {
    // Not sysconf(_SC_LEVEL3_CACHE_SIZE): on AMD it answers with the caches of all core groups together.
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size"); // "32768K"
    std::size_t kibibytes = 0;
    return file >> kibibytes ? kibibytes << 10 : std::size_t{32} << 20; // virtual machines may hide it
}

double load_average() {
    double load = std::numeric_limits<double>::quiet_NaN();
    getloadavg(&load, 1);
    return load;
}

std::string busy_text(double load_average, int width) {
    if (!(load_average > 0.5)) return "";
    return fmt::format("\n{:<{}} other programs were running (load average {:.1f}): these times will be too long",
                       "busy", width, load_average);
}

std::string utc_now() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

} // namespace app
