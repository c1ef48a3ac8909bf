#include "core/app/rank_outcome.hpp"

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <string>
#include <system_error>

#include "core/app/signals.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/launch/option_values.hpp"
#include "core/launch/rank_report.hpp"

namespace titan::app {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// Who reads the variables for the run complains of odd ones; the way out needs a number.
std::int64_t number_of(const char* name, std::int64_t otherwise) {
  return launch::parse_whole(variable(name), 0, std::numeric_limits<std::int32_t>::max()).value_or(otherwise);
}

/// Of the process: it is one rank.
std::filesystem::path& own_error_file() {
  static std::filesystem::path path;
  return path;
}

using WriteError = void (*)(const std::filesystem::path& path, const launch::RankError& error);

void write(WriteError write_error, const std::filesystem::path& path, const launch::RankError& error) {
  if (path.empty()) return;
  try {
    write_error(path, error);
  } catch (const std::exception& failure) {
    log_warning("launch", "cannot tell the launcher of the error: ", failure.what());
  }
}

void write_error_files(const Verdict& verdict) {
  launch::RankError error = launch::rank_error_now(verdict.status, without_color(verdict.message), number_of("RANK", 0),
                                                   has_work_begun() ? "in training" : "while starting");
  error.is_quit = verdict.is_quit;
  const std::filesystem::path given = variable("TITAN_ERROR_FILE");
  write(&launch::write_rank_error, given.empty() ? own_error_file() : given, error);
  write(&launch::write_torchelastic_error, variable("TORCHELASTIC_ERROR_FILE"), error);
}

}  // namespace

bool has_peers() { return number_of("WORLD_SIZE", 1) > 1; }

void write_errors_to(const std::filesystem::path& dump_folder) {
  if (!has_peers() || !variable("TITAN_ERROR_FILE").empty()) return;
  own_error_file() = dump_folder / "errors" / concat("rank_", number_of("RANK", 0), ".json");
  std::error_code ignored;
  std::filesystem::remove(own_error_file(), ignored);
}

void tell_launcher(Verdict& verdict) {
  const std::filesystem::path token = variable("TITAN_DONE_FILE");
  if (verdict.status == 0 && !token.empty()) {
    try {
      launch::write_done_token(token);
    } catch (...) {
      verdict = judge(std::current_exception());
      report(verdict);
    }
  }
  if (verdict.status != 0) write_error_files(verdict);
}

}  // namespace titan::app
