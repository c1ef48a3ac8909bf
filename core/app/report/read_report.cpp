#include <algorithm>
#include <system_error>

#include "core/app/report/run_report.hpp"
#include "core/app/trace/run_dumps.hpp"
#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/trace/dump_verdict.hpp"

namespace titan::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostConfigBytes = std::uint64_t{1} << 20U;
constexpr std::size_t kMostErrors = 1000;

void read_config(const fs::path& folder, RunReport& report) {
  try {
    report.config = read_file(folder / "config.toml", kMostConfigBytes);
  } catch (const Error& error) {
    report.record.missing.emplace_back(error.what());
  }
}

/// Of a run before this one in the same folder, which no launcher started since, nothing counts.
bool is_of_this_run(const launch::JobWords& words, const trace::RunRecord& record) {
  return std::none_of(record.ranks.begin(), record.ranks.end(),
                      [&](const trace::RankRecord& rank) { return rank.begin > words.time; });
}

void read_launcher(const fs::path& path, RunReport& report) {
  auto words = launch::read_job_words(path);
  if (!words) {
    report.record.missing.push_back(concat("no words of a launcher: ", printable(path.native())));
  } else if (is_of_this_run(*words, report.record)) {
    report.launchers.push_back(std::move(*words));
  }
}

/// The launcher of another machine knows no more of a lost rank than its peers do.
void order_launchers(std::vector<launch::JobWords>& launchers) {
  const auto is_second_hand = [](const launch::JobWords& words) {
    return words.status == static_cast<int>(Exit::unavailable);
  };
  std::stable_sort(launchers.begin(), launchers.end(), [&](const launch::JobWords& a, const launch::JobWords& b) {
    if (is_second_hand(a) != is_second_hand(b)) return is_second_hand(b);
    return a.time < b.time;
  });
}

void read_errors(const fs::path& folder, RunReport& report) {
  std::error_code error;
  for (fs::directory_iterator entry(folder / "errors", error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() != ".json" || report.errors.size() == kMostErrors) continue;
    if (launch::is_verdict_file(entry->path())) {
      read_launcher(entry->path(), report);
    } else if (auto found = launch::read_rank_error(entry->path())) {
      report.errors.push_back(std::move(*found));
    } else {
      report.record.missing.push_back(concat("no report of a rank: ", printable(entry->path().native())));
    }
  }
  std::stable_sort(report.errors.begin(), report.errors.end(),
                   [](const launch::RankError& a, const launch::RankError& b) { return a.time < b.time; });
  order_launchers(report.launchers);
}

void read_verdict(const fs::path& folder, RunReport& report) {
  const fs::path place = dumps_folder(folder);
  if (place == folder) return;
  try {
    const trace::Dumps dumps = trace::read_dumps(place, std::nullopt);
    for (const trace::UnreadableDump& dump : dumps.unreadable) report.record.missing.push_back(dump.reason);
    const trace::Analysis analysis = trace::analyse(dumps);
    if (!dumps.ranks.empty() && !analysis.is_consistent()) report.verdict = trace::verdict(dumps, analysis);
  } catch (const Error& error) {
    report.record.missing.emplace_back(error.what());
  }
}

bool has_nothing(const RunReport& report) {
  const trace::RunRecord& record = report.record;
  return report.config.empty() && report.errors.empty() && report.verdict.empty() && record.metrics.empty() &&
         record.validation.empty() && record.ranks.empty();
}

}  // namespace

RunReport read_run_report(const fs::path& folder, std::optional<std::int64_t> step) {
  RunReport report{folder.native(), trace::read_run_record(folder, step), {}, {}, {}, find_run_files(folder), {}};
  read_config(folder, report);
  read_errors(folder, report);
  read_verdict(folder, report);
  if (has_nothing(report)) {
    throw InputError("[report] nothing of a run in folder: ", printable(folder.native()),
                     ": give the --dump_folder of a run");
  }
  return report;
}

}  // namespace titan::app
