#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace titan::launch {

/// What a launcher said last: how the ranks of its node ended together.
struct JobWords {
  int status = 0;         // the launcher's exit status
  std::int64_t rank = 0;  // that failed first
  std::string message;    // lines
  double time = 0;        // seconds since 1970
  bool is_quit = false;   // no failure: somebody at a prompt ended the run
};

/// Where the launcher of that node leaves it: "verdict.json", beside the ranks' errors; of another node than 0
/// "verdict_node_N.json".
std::filesystem::path verdict_file(const std::filesystem::path& report_folder, std::int64_t node_rank);
/// Whether a file of the folder is one of those.
bool is_verdict_file(const std::filesystem::path& path);

/// Writes it as JSON, in one step. CreateError or IoError.
void write_job_words(const std::filesystem::path& path, const JobWords& words);
/// Reads what write_job_words() wrote. Nothing where there is no such file or anything else in it.
std::optional<JobWords> read_job_words(const std::filesystem::path& path);

}  // namespace titan::launch
