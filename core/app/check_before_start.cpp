#include "core/app/check_before_start.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "core/app/signals.hpp"
#include "core/base/error.hpp"
#include "core/base/temporary_folder.hpp"
#include "core/launch/child_process.hpp"
#include "core/launch/rank_report.hpp"

namespace titan::app {
namespace {

using std::chrono::steady_clock;

// A plugin may hang: then the ranks hang too, and the launcher says where.
constexpr std::chrono::seconds kLongest{60};
constexpr std::chrono::milliseconds kPause{5};

/// The launcher has logged the warnings, and throws the error.
void discard(const FileDescriptor& stream) {
  std::array<char, 4096> bytes;
  while (::read(stream.get(), bytes.data(), bytes.size()) > 0) continue;
}

/// The exit status, or nothing when a signal ended the process or it takes too long.
std::optional<int> run_to_end(const launch::ChildProgram& program) {
  launch::ChildProcess child(program);
  const auto deadline = steady_clock::now() + kLongest;
  while (steady_clock::now() < deadline) {
    stop_flag().check();
    discard(child.standard_output());
    discard(child.standard_error());
    const auto change = child.poll_change();
    if (change && change->kind == launch::ChildChange::Kind::ended) {
      return change->signal != 0 || change->is_status_lost ? std::nullopt : std::optional(change->status);
    }
    std::this_thread::sleep_for(kPause);
  }
  return std::nullopt;
}

}  // namespace

void check_before_start(const std::filesystem::path& program, const config::Words& words, std::int64_t world_size) {
  const TemporaryFolder folder;
  const std::filesystem::path report = folder.path() / "error.json";
  launch::ChildProgram check{
      program, {"check", "--world-size", std::to_string(world_size)}, launch::own_variables(), {}};
  check.arguments.insert(check.arguments.end(), words.begin(), words.end());
  check.variables["TITAN_ERROR_FILE"] = report;
  for (const char* of_a_rank : {"TITAN_DONE_FILE", "TORCHELASTIC_ERROR_FILE", "RANK", "WORLD_SIZE", "TITAN_CONSOLE",
                                "TITAN_INPUT_FD", "TITAN_NOTICE_FD"}) {
    check.variables.erase(of_a_rank);
  }
  const std::optional<int> status = run_to_end(check);
  if (status != static_cast<int>(Exit::config)) return;
  if (const auto error = launch::read_rank_error(report)) throw ConfigError(error->message);
}

}  // namespace titan::app
