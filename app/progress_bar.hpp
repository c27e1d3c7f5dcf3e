// How far a long run is: a bar on a terminal, a line now and then in a log, nothing if it is quiet. On stderr.
#pragma once

#include "bandmill/study/campaign.hpp"

#include <string>

namespace app {

class ProgressBar {
  public:
    explicit ProgressBar(bool wanted);
    ~ProgressBar() { clear(); }

    void show(const bandmill::CampaignProgress& progress);
    // Takes the bar away, for something else to be printed.
    void clear();

  private:
    bool wanted_, terminal_, drawn_ = false;
    double next_ = 0, gap_ = 1; // seconds
};

// "[######..............]  30 %  1.8 G point-steps/s  41 s left  t = 12, l = 2.8", in at most `width` columns.
std::string progress_text(const bandmill::CampaignProgress& progress, int width, bool with_bar);

} // namespace app
