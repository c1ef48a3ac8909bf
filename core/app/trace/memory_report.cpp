#include "core/app/trace/memory_report.hpp"

#include <algorithm>
#include <cmath>

#include "core/app/aligned_table.hpp"
#include "core/base/quantity.hpp"
#include "core/base/text.hpp"
#include "core/chart/charts.hpp"

namespace titan::app {
namespace {

using trace::DeviceSummary;
using trace::LiveSet;

constexpr std::size_t kLineWidth = 80;
constexpr double kPictureWidth = 1000, kPictureHeight = 480;
constexpr double kNear = 2;             // peaks
constexpr std::size_t kMostSteps = 12;  // rows of the table of growth

std::string size(std::int64_t bytes) {
  return bytes_text(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)));
}

std::string count(std::int64_t number, const char* one) { return concat(number, " ", one, number == 1 ? "" : "s"); }

/// Seconds since the first event.
std::string when(const DeviceSummary& device, std::int64_t time_us) {
  const auto since = static_cast<std::uint64_t>(time_us) - static_cast<std::uint64_t>(device.begin_us);
  return time_us < device.begin_us ? "before the first event" : seconds_text(static_cast<double>(since) / 1e6);
}

std::string percent(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return "";
  return concat(std::lround(100.0 * static_cast<double>(part) / static_cast<double>(whole)), " %");
}

std::string groups(const char* title, const std::vector<trace::MemoryGroup>& groups, std::int64_t whole) {
  std::vector<Row> rows;
  for (const trace::MemoryGroup& group : groups) {
    rows.push_back(
        {size(group.bytes), percent(group.bytes, whole), count(group.blocks, "block"), printable(group.name)});
  }
  return concat(title, "\n", aligned(rows));
}

std::string live_set(const char* when, const LiveSet& set) {
  if (set.blocks == 0) return {};
  std::vector<Row> blocks;
  for (const trace::NamedBlock& block : set.largest) {
    blocks.push_back(
        {size(block.bytes), printable(block.kind), printable(block.name.empty() ? block.site : block.name)});
  }
  return concat(groups(concat("\n", when, ", by kind").c_str(), set.kinds, set.bytes),
                groups(concat(when, ", by module").c_str(), set.modules, set.bytes),
                groups(concat(when, ", by operator").c_str(), set.ops, set.bytes), when, ", largest blocks\n",
                aligned(blocks));
}

std::string growth(const DeviceSummary& device) {
  if (device.steps.empty()) return "\ngrowth from step to step: stacks of this file name no steps\n";
  std::vector<Row> rows{{"step", "allocated", "alive at the end", ""}};
  const std::size_t first = device.steps.size() - std::min(device.steps.size(), kMostSteps);
  for (std::size_t i = first; i < device.steps.size(); ++i) {
    const trace::StepGrowth& step = device.steps[i];
    rows.push_back({concat(step.step), size(step.allocated), size(step.alive), count(step.alive_blocks, "block")});
  }
  std::string text = concat("\ngrowth from step to step", first > 0 ? concat(" (the last ", kMostSteps, ")") : "", "\n",
                            aligned(rows));
  if (device.suspects.empty())
    return concat(text, "no place keeps blocks of several steps: nothing looks like a leak\n");
  std::vector<Row> suspects;
  for (const trace::LeakSuspect& suspect : device.suspects) {
    suspects.push_back({size(suspect.bytes), count(suspect.blocks, "block"), concat("of ", suspect.steps, " steps"),
                        printable(suspect.site)});
  }
  return concat(text, "places that keep blocks of several steps: look for a leak there\n", aligned(suspects));
}

std::string failures(const DeviceSummary& device) {
  std::string text;
  for (const trace::OutOfMemory& failure : device.failures) {
    text += concat("out of memory at ", when(device, failure.time_us), ": asked for ", size(failure.asked), " with ",
                   size(failure.device_free), " free, by ", printable(failure.site), "\n");
  }
  return text;
}

std::string device_text(const DeviceSummary& device) {
  std::string text =
      concat("device ", device.device, ": ", count(static_cast<std::int64_t>(device.num_events), "event"), " over ",
             when(device, device.end_us), ", ", size(device.reserved), " reserved\n");
  std::vector<Row> rows{{"peak", size(device.peak.bytes), count(device.peak.blocks, "block")},
                        {"at the end", size(device.end.bytes), count(device.end.blocks, "block")}};
  if (device.before_bytes > 0) rows.push_back({"before", size(device.before_bytes), "older than the first event"});
  if (!device.peak_site.empty()) {
    rows[0].push_back(concat("at ", when(device, device.peak_us), ", by ", printable(device.peak_site)));
  }
  text += aligned(rows);
  if (device.timeline.bytes.size() > 1) {
    text += concat("  0 to ", size(device.peak.bytes), " over ", when(device, device.end_us), "\n  ",
                   chart::sparkline(device.timeline.bytes, kLineWidth), "\n");
  }
  return concat(text, failures(device), live_set("at the peak", device.peak), live_set("at the end", device.end),
                growth(device));
}

std::string facts(const trace::Snapshot& snapshot) {
  if (!snapshot.facts) return {};
  const trace::SnapshotFacts& facts = *snapshot.facts;
  std::string text = concat("rank ", facts.rank, ", step ", facts.step,
                            facts.phase.empty() ? "" : concat(", ", printable(facts.phase)), ": ",
                            size(facts.live_bytes), " alive, ", size(facts.peak_bytes), " at the peak of the process");
  if (facts.limit_bytes > 0) text += concat(", limit ", size(facts.limit_bytes));
  if (facts.dropped_events > 0) {
    text += concat("\n", facts.dropped_events,
                   " older events were dropped: what came and went before the first event is not in this file; a "
                   "larger --profiler.memory_snapshot_max_entries keeps more");
  }
  return concat(text, "\n");
}

}  // namespace

std::string memory_report(const std::string& file, const trace::Snapshot& snapshot,
                          const std::vector<DeviceSummary>& devices) {
  std::string text = concat("memory snapshot ", printable(file), "\n", facts(snapshot));
  if (devices.empty()) return concat(text, "nothing was allocated\n");
  for (const DeviceSummary& device : devices) text += concat("\n", device_text(device));
  return text;
}

std::string memory_picture(const std::string& title, const DeviceSummary& device, double limit) {
  chart::StackedChart picture{.title = title,
                              .x_name = "time since the first event",
                              .x_unit = chart::Unit::seconds,
                              .unit = chart::Unit::bytes,
                              .x = {},
                              .bands = {},
                              .width = kPictureWidth,
                              .height = kPictureHeight};
  for (const std::int64_t time : device.timeline.time_us) {
    picture.x.push_back((static_cast<double>(time) - static_cast<double>(device.begin_us)) / 1e6);
  }
  for (std::size_t band = 0; band < device.timeline.bands.size(); ++band) {
    const std::vector<std::int64_t>& bytes = device.timeline.stacks[band];
    picture.bands.push_back({.name = device.timeline.bands[band], .x = {}, .y = {bytes.begin(), bytes.end()}});
  }
  if (device.peak_event > 0) {
    const std::string text = concat("peak: ", size(device.peak.bytes), ", by ", device.peak_site);
    picture.marks.push_back({(static_cast<double>(device.peak_us) - static_cast<double>(device.begin_us)) / 1e6, text});
  }
  // A far one would leave no room for what is below it.
  if (limit <= kNear * static_cast<double>(device.peak.bytes)) picture.limit = limit;
  return chart::render(picture);
}

}  // namespace titan::app
