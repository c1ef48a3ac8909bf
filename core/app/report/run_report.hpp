#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/app/report/run_files.hpp"
#include "core/launch/rank_report.hpp"
#include "core/launch/verdict_file.hpp"
#include "core/trace/run_record.hpp"

namespace titan::app {

/// Everything that a report of a run shows.
struct RunReport {
  std::string folder;
  trace::RunRecord record;
  std::string config;                     // text of config.toml; empty: none
  std::vector<launch::RankError> errors;  // how ranks failed
  std::string verdict;                    // of the flight-recorder dumps; empty: nothing is wrong in them, or none
  std::vector<RunFiles> files;
  std::vector<launch::JobWords> launchers;  // what they said last, who knows more than of lost peers first
};

/// Reads what is in the dump folder of a run; what is missing is listed in the record. InputError: there is no such
/// folder, or nothing in it that a run wrote.
RunReport read_run_report(const std::filesystem::path& folder, std::optional<std::int64_t> step);

/// One HTML page with all of it, which needs nothing else: no network, no script.
std::string report_page(const RunReport& report);

}  // namespace titan::app
