#pragma once

#include <string>

#include "core/schedule/table.hpp"
#include "core/schedule/timeline.hpp"

namespace titan::schedule {

/// Lists the stages with their ranks and blocks, one line each.
std::string render_stages(const Table& table);
/// Draws the timeline, one line a rank, and says its bubble share and the peak of live micro-batches.
std::string render_text(const Table& table, const Timeline& timeline);
/// Draws the timeline as a picture of its own.
std::string render_svg(const Table& table, const Timeline& timeline);
/// Says what a timeline comes to: "bubble share 27.3 %, ...".
std::string describe(const Timeline& timeline);

}  // namespace titan::schedule
