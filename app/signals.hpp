// Signals that ask a study to stop: Ctrl-C, SIGTERM, SIGHUP, and SIGUSR1, by which clusters warn before they kill.
#pragma once

namespace app {

class SignalWatch {
  public:
    SignalWatch(); // one at a time
    ~SignalWatch();
    SignalWatch(const SignalWatch&) = delete;
    SignalWatch& operator=(const SignalWatch&) = delete;

    // The first one that came, 0 if none did. A second one of the same kind ends the program at once.
    static int seen();
};

} // namespace app
