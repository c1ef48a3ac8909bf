#include "plugins/observability/profiler/timeline.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <utility>

#include "plugins/observability/clocks.hpp"
#include "plugins/observability/json_line.hpp"

namespace titan::observability {
namespace {

/// Numbers of the lanes, above those of threads.
constexpr std::int64_t kFirstLane = 1'000'000'000;

std::int64_t epoch_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void append_event(std::string& out, const std::string& object) {
  if (!out.empty()) out += ",\n  ";
  out += object;
}

std::string fixed(double microseconds) {
  char text[48];
  const int size = std::snprintf(text, sizeof text, "%.3f", microseconds);
  return {text, static_cast<std::size_t>(size)};
}

std::string metadata(const char* what, std::int64_t process, std::int64_t lane, const std::string& args) {
  return JsonLine()
      .add("name", what)
      .add("ph", "M")
      .add("pid", process)
      .add("tid", lane)
      .add_json("args", args)
      .object();
}

}  // namespace

/// Turns monotonic times into the trace's.
struct Timeline::Clock {
  double anchor;
  std::int64_t offset_ns;  // of the anchor, since the trace's base
  std::int64_t process;

  double microseconds(double time) const { return static_cast<double>(offset_ns) / 1e3 + (time - anchor) * 1e6; }
};

void Timeline::begin() {
  spans_.clear();
  counters_.clear();
  anchor_ = monotonic_seconds();
  anchor_epoch_ns_ = epoch_nanoseconds();
}

void Timeline::add_span(std::string_view lane, std::string name, double begin, double end, std::string args) {
  spans_.push_back({std::string(lane), std::move(name), begin, std::max(begin, end), std::move(args)});
}

void Timeline::add_counter(const char* name, double time, std::int64_t value) {
  counters_.push_back({name, time, value});
}

std::string Timeline::json(std::int64_t base_ns, std::int64_t process) const {
  const Clock clock{anchor_, anchor_epoch_ns_ - base_ns, process};
  std::string out;
  append_lanes(out, clock);
  for (const Counter& counter : counters_) {
    append_event(out, JsonLine()
                          .add("name", counter.name)
                          .add("ph", "C")
                          .add("pid", process)
                          .add_json("ts", fixed(clock.microseconds(counter.time)))
                          .add_json("args", JsonLine().add("bytes", counter.value).object())
                          .object());
  }
  return out;
}

void Timeline::append_lanes(std::string& out, const Clock& clock) const {
  std::vector<const Span*> sorted;
  for (const Span& span : spans_) sorted.push_back(&span);
  // What holds others comes before them.
  std::stable_sort(sorted.begin(), sorted.end(), [](const Span* a, const Span* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
  });
  struct Lane {
    std::int64_t number;
    std::vector<double> open;  // ends of the spans that hold the newest
  };
  std::map<std::string_view, std::vector<Lane>> lanes;
  std::int64_t next = kFirstLane;
  for (const Span* span : sorted) {
    auto& mine = lanes[span->lane];
    const auto fits = [span](Lane& lane) {
      while (!lane.open.empty() && lane.open.back() <= span->begin) lane.open.pop_back();
      return lane.open.empty() || span->end <= lane.open.back();
    };
    auto lane = std::find_if(mine.begin(), mine.end(), fits);
    if (lane == mine.end()) {
      const std::string number = mine.empty() ? std::string() : ' ' + std::to_string(mine.size() + 1);
      append_event(out,
                   metadata("thread_name", clock.process, next, JsonLine().add("name", span->lane + number).object()));
      append_event(out,
                   metadata("thread_sort_index", clock.process, next, JsonLine().add("sort_index", next).object()));
      lane = mine.insert(mine.end(), Lane{next++, {}});
    }
    lane->open.push_back(span->end);
    append_event(out, JsonLine()
                          .add("ph", "X")
                          .add("cat", "titan")
                          .add("name", span->name)
                          .add("pid", clock.process)
                          .add("tid", lane->number)
                          .add_json("ts", fixed(clock.microseconds(span->begin)))
                          .add_json("dur", fixed((span->end - span->begin) * 1e6))
                          .add_json("args", span->args)
                          .object());
  }
}

}  // namespace titan::observability
