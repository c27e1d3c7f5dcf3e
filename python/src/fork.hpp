// Processes made by fork(), as multiprocessing makes them on Linux up to Python 3.13.
#pragma once

#include <pthread.h>

#include <exception>
#include <thread>

namespace bandmill::python {

// Such a process has none of the threads that libgomp believes to have, and would wait for them forever.
inline bool forked = false;
inline const int fork_is_watched = pthread_atfork(nullptr, nullptr, [] { forked = true; });

// Calls body(), in such a process on a thread of its own: libgomp keeps a team for each thread that calls it.
template <class Body> void with_own_team(const Body& body) {
    if (!forked) return body();
    std::exception_ptr error;
    std::thread([&] {
        try {
            body();
        } catch (...) {
            error = std::current_exception();
        }
    }).join();
    if (error) std::rethrow_exception(error);
}

} // namespace bandmill::python
