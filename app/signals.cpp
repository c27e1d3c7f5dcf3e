#include "signals.hpp"

#include <csignal>

namespace app {
namespace {

constexpr int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
volatile std::sig_atomic_t first_signal = 0;

void note(int signal) {
    if (first_signal == 0) first_signal = signal;
}

} // namespace

SignalWatch::SignalWatch() {
    first_signal = 0;
    struct sigaction action = {};
    action.sa_handler = note;
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    for (const int signal : watched) {
        struct sigaction before = {};
        sigaction(signal, nullptr, &before);
        if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr); // nohup stays nohup
    }
}

SignalWatch::~SignalWatch() {
    for (const int signal : watched) {
        struct sigaction now = {};
        sigaction(signal, nullptr, &now);
        if (now.sa_handler == note) std::signal(signal, SIG_DFL);
    }
}

int SignalWatch::seen() { return first_signal; }

} // namespace app
