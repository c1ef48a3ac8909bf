#include "core/app/report/ending.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

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

bool is_ending(const trace::RunEvent& event) {
  return event.name == "end" || event.name == "stopped" || trace::is_failure(event);
}

/// The newest one, which is older than a run that has begun since and has not said how it ended.
const trace::RunEvent* last_ending(const trace::RunRecord& record) {
  const auto found = std::find_if(record.events.rbegin(), record.events.rend(), is_ending);
  if (found == record.events.rend()) return nullptr;
  const bool has_run_since = std::any_of(record.ranks.begin(), record.ranks.end(),
                                         [&](const trace::RankRecord& rank) { return rank.begin > found->time; });
  return has_run_since ? nullptr : &*found;
}

/// "out_of_memory" for a person.
std::string in_words(std::string name) {
  if (name == "non_finite") return "values that are not finite";
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

/// Ranks whose spans just stop, while another one lost a peer: most likely killed from outside.
std::vector<std::string> silent_ranks(const RunReport& report) {
  std::vector<std::string> silent;
  for (const trace::RankRecord& rank : report.record.ranks) {
    const bool has_told = std::any_of(report.errors.begin(), report.errors.end(),
                                      [&](const launch::RankError& error) { return error.rank == rank.rank; });
    const bool has_ended =
        std::any_of(report.record.events.begin(), report.record.events.end(), [&](const trace::RunEvent& event) {
          return event.rank == rank.rank && is_ending(event) && !(event.time < rank.begin);
        });
    if (!has_told && !has_ended) silent.push_back(concat(rank.rank));
  }
  return silent;
}

std::string headline_of(const RunReport& report, const launch::RankError& failed) {
  const std::string told = concat("rank ", failed.rank, " first, ", failed.phase, ", status ", failed.code);
  if (failed.code != static_cast<int>(Exit::unavailable)) return concat("Failed: ", told);
  const std::vector<std::string> silent = silent_ranks(report);
  if (silent.empty() || silent.size() == report.record.ranks.size()) return concat("Failed: ", told);
  const bool is_one = silent.size() == 1;
  return concat("Failed: rank", is_one ? " " : "s ", join(silent, ", "), is_one ? " is" : " are",
                " gone without a word (killed?); of the others ", told);
}

Ending ending_of(const trace::RunEvent& event) {
  const std::string where = concat(" after step ", event.step);
  if (trace::is_failure(event)) {
    const std::string in_step =
        event.step == 0 ? std::string(" before the first step") : concat(" in step ", event.step);
    return {true, true, concat("Failed", in_step, ": rank ", event.rank, ", ", in_words(event.name)), event.text};
  }
  return {false, true, concat(event.name == "end" ? "Ended" : "Stopped", where), event.text};
}

/// Its first line says who failed; the rest are the words of ranks.
Ending ending_of(const launch::JobWords& words) {
  constexpr std::string_view kRoom = "[launch] ";
  std::vector<std::string> lines = split(words.message, '\n');
  for (std::string& line : lines) {
    if (line.starts_with(kRoom)) line.erase(0, kRoom.size());
  }
  const std::string first = lines.front();
  lines.erase(lines.begin());
  const bool is_failure = !words.is_quit;
  return {is_failure, true, concat(is_failure ? "Failed: " : "", first, ", status ", words.status),
          shortened(join(lines, "\n"), kMostMessageBytes)};
}

}  // namespace

std::string outcome_text(const launch::RankError& error) {
  const char* const what = error.is_quit ? "quit at a prompt" : is_failure(error) ? "failed" : "stopped as asked";
  return concat(what, ", status ", error.code);
}

Ending ending_of(const RunReport& report) {
  if (!report.launchers.empty()) return ending_of(report.launchers.front());
  const auto failed = std::find_if(report.errors.begin(), report.errors.end(),
                                   [](const launch::RankError& error) { return is_failure(error); });
  if (failed != report.errors.end()) {
    return {true, true, headline_of(report, *failed), shortened(failed->message, kMostMessageBytes)};
  }
  if (const trace::RunEvent* event = last_ending(report.record)) return ending_of(*event);
  if (!report.errors.empty()) {
    const launch::RankError& first = report.errors.front();
    return {false, true, concat("Rank ", first.rank, ", ", first.phase, ": ", outcome_text(first)),
            shortened(first.message, kMostMessageBytes)};
  }
  return {false, false, "No failure is recorded; whether the run ended is not, either.", {}};
}

}  // namespace titan::app
