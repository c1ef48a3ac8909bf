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

void read_errors(const fs::path& folder, RunReport& report) {
  std::error_code error;
  for (fs::directory_iterator entry(folder / "errors", error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() != ".json" || report.errors.size() == kMostErrors) continue;
    if (auto found = launch::read_rank_error(entry->path())) {
      report.errors.push_back(std::move(*found));
    } else {
      report.record.missing.push_back(concat("no report of a rank: ", printable(entry->path().native())));
    }
  }
  std::stable_sort(report.errors.begin(), report.errors.end(),
                   [](const launch::RankError& a, const launch::RankError& b) { return a.time < b.time; });
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
  RunReport report{folder.native(), trace::read_run_record(folder, step), {}, {}, {}, find_run_files(folder)};
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
