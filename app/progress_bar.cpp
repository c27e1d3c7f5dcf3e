#include "progress_bar.hpp"

#include "text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace app {
namespace {

int terminal_width() {
    winsize size = {};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

} // namespace

std::string progress_text(const bandmill::CampaignProgress& progress, int width, bool with_bar) {
    // 100 % is for what is finished.
    std::string text = fmt::format("{:3d} %", std::min(99, static_cast<int>(progress.share * 100)));
    const double done = progress.share - progress.share_at_start;
    if (progress.seconds > 0.2 && done > 0)
        text += fmt::format("  {} point-steps/s", readable_rate(progress.point_steps / progress.seconds));
    // Earlier it is a guess.
    if (progress.seconds > 1 && done > 0)
        text += fmt::format("  {} left", readable_duration(progress.seconds * (1 - progress.share) / done));
    if (!progress.status.empty()) text += "  " + progress.status;
    const int room = std::min(30, width - static_cast<int>(text.size()) - 3); // for the bar
    if (with_bar && room >= 5) {
        const auto cells = static_cast<std::size_t>(room);
        const auto filled = static_cast<std::size_t>(std::clamp(progress.share, 0.0, 1.0) * room);
        text = fmt::format("[{}{}] ", std::string(filled, '#'), std::string(cells - filled, '.')) + text;
    }
    if (static_cast<int>(text.size()) > width) text.resize(static_cast<std::size_t>(std::max(width, 0)));
    return text;
}

ProgressBar::ProgressBar(bool wanted) : wanted_(wanted), terminal_(isatty(STDERR_FILENO) != 0) {
    if (terminal_) next_ = gap_ = 0.1;
    if (!terminal_) next_ = 1;
}

void ProgressBar::show(const bandmill::CampaignProgress& progress) {
    next_ = std::min(next_, progress.seconds + gap_); // another round has begun
    if (!wanted_ || progress.seconds < next_) return;
    next_ = progress.seconds + gap_;
    if (terminal_) {
        fmt::print(stderr, "\r{}\033[K", progress_text(progress, terminal_width() - 1, true));
        drawn_ = true;
    } else {
        fmt::print(stderr, "{}\n", progress_text(progress, 200, false));
        gap_ = std::min(60.0, 2 * gap_); // a log of a day has a line a minute
    }
    std::fflush(stderr);
}

void ProgressBar::clear() {
    if (!drawn_) return;
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    drawn_ = false;
}

} // namespace app
