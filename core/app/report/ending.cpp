#include "core/app/report/ending.hpp"

#include <algorithm>
#include <array>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace titan::app {
namespace {

constexpr int kFirstSignalStatus = 128;
constexpr std::size_t kMostMessageBytes = 4096;

/// A rank writes 128 + n where a signal asked it to end.
bool is_failure(const launch::RankError& error) {
  return !error.is_quit && error.code != static_cast<int>(Exit::stopped) && error.code <= kFirstSignalStatus;
}

bool is_failure(const trace::RunEvent& event) {
  constexpr std::array<std::string_view, 4> kFailures = {"error", "out_of_memory", "non_finite", "timeout"};
  return std::find(kFailures.begin(), kFailures.end(), event.name) != kFailures.end();
}

bool is_ending(const trace::RunEvent& event) {
  return event.name == "end" || event.name == "stopped" || is_failure(event);
}

/// The newest one, which is older than a run that has begun since and has not said how it ended.
const trace::RunEvent* last_ending(const trace::RunRecord& record) {
  const auto found = std::find_if(record.events.rbegin(), record.events.rend(), is_ending);
  if (found == record.events.rend()) return nullptr;
  const bool has_run_since = std::any_of(record.ranks.begin(), record.ranks.end(),
                                         [&](const trace::RankRecord& rank) { return rank.begin > found->time; });
  return has_run_since ? nullptr : &*found;
}

Ending ending_of(const trace::RunEvent& event) {
  const std::string where = concat(" after step ", event.step);
  if (is_failure(event)) {
    return {true, concat("Failed", where, ": rank ", event.rank, ", ", event.name), event.text};
  }
  return {false, concat(event.name == "end" ? "Ended" : "Stopped", where), event.text};
}

}  // namespace

std::string outcome_text(const launch::RankError& error) {
  const char* const what = error.is_quit ? "quit at a prompt" : is_failure(error) ? "failed" : "stopped as asked";
  return concat(what, ", status ", error.code);
}

Ending ending_of(const RunReport& report) {
  const auto failed = std::find_if(report.errors.begin(), report.errors.end(),
                                   [](const launch::RankError& error) { return is_failure(error); });
  if (failed != report.errors.end()) {
    return {true, concat("Failed: rank ", failed->rank, " first, ", failed->phase, ", status ", failed->code),
            shortened(failed->message, kMostMessageBytes)};
  }
  if (const trace::RunEvent* event = last_ending(report.record)) return ending_of(*event);
  if (!report.errors.empty()) {
    const launch::RankError& first = report.errors.front();
    return {false, concat("Rank ", first.rank, ", ", first.phase, ": ", outcome_text(first)),
            shortened(first.message, kMostMessageBytes)};
  }
  return {false, "No failure is recorded; whether the run ended is not, either.", {}};
}

}  // namespace titan::app
