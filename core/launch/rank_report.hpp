#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace titan::launch {

/// How a rank failed, in its own words.
struct RankError {
  int code = 0;         // exit status to come
  std::string message;  // lines
  std::int64_t rank = 0;
  std::string host;
  std::int64_t pid = 0;
  double time = 0;       // seconds since 1970, of the host's clock
  double moment = 0;     // seconds of the host's monotonic clock: orders the ranks of one host
  std::string phase;     // "while starting", "in training"
  bool is_quit = false;  // no failure: somebody at a prompt ended the run
};

/// A RankError of this process and this moment.
RankError rank_error_now(int code, std::string message, std::int64_t rank, std::string phase);

/// Writes the error as JSON, in one step, with the folder where that is missing. CreateError or IoError.
void write_rank_error(const std::filesystem::path& path, const RankError& error);
/// Writes it as torchelastic does, for torchrun's own report.
void write_torchelastic_error(const std::filesystem::path& path, const RankError& error);
/// Reads what write_rank_error() wrote. Nothing where there is no such file or anything else in it.
std::optional<RankError> read_rank_error(const std::filesystem::path& path);

/// Writes that this process did all its work: without it an exit status of 0 is no success. CreateError or IoError.
void write_done_token(const std::filesystem::path& path);
/// Whether the process of that number wrote its token there.
bool has_done_token(const std::filesystem::path& path, std::int64_t pid);

}  // namespace titan::launch
