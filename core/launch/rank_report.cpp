#include "core/launch/rank_report.hpp"

#include <unistd.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/json.hpp"

namespace titan::launch {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestMessage = 16 * 1024;
constexpr std::uint64_t kLargestFile = 256 * 1024;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// A message may hold bytes that are no UTF-8, which JSON cannot.
std::string to_text(const json& value) { return value.dump(2, ' ', false, json::error_handler_t::replace) + '\n'; }

void write(const std::filesystem::path& path, const json& value) {
  if (path.has_parent_path()) create_folder(path.parent_path());
  write_file_atomically(path, to_text(value));
}

std::optional<json> read(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  try {
    json value = parse_json(read_file(path, kLargestFile), path.native());
    return value.is_object() ? std::optional(std::move(value)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

RankError rank_error_now(int code, std::string message, std::int64_t rank, std::string phase) {
  return {.code = code,
          .message = shortened(message, kLongestMessage),
          .rank = rank,
          .host = host_name(),
          .pid = ::getpid(),
          .time = unix_seconds(),
          .moment = monotonic_seconds(),
          .phase = std::move(phase),
          .is_quit = false};
}

void write_rank_error(const std::filesystem::path& path, const RankError& error) {
  write(path, {{"code", error.code},
               {"message", error.message},
               {"rank", error.rank},
               {"host", error.host},
               {"pid", error.pid},
               {"time", error.time},
               {"moment", error.moment},
               {"phase", error.phase},
               {"quit", error.is_quit}});
}

void write_torchelastic_error(const std::filesystem::path& path, const RankError& error) {
  // Without a "py_callstack": torchrun shows that in place of the message.
  const json more = {{"timestamp", std::to_string(static_cast<std::int64_t>(error.time))}};
  write(path, {{"message", {{"message", error.message}, {"errorCode", error.code}, {"extraInfo", more}}}});
}

std::optional<RankError> read_rank_error(const std::filesystem::path& path) {
  const std::optional<json> found = read(path);
  if (!found) return std::nullopt;
  try {
    RankError error;
    error.code = found->at("code").get<int>();
    error.message = found->at("message").get<std::string>();
    error.rank = found->at("rank").get<std::int64_t>();
    error.host = found->at("host").get<std::string>();
    error.pid = found->at("pid").get<std::int64_t>();
    error.time = found->at("time").get<double>();
    error.moment = found->at("moment").get<double>();
    error.phase = found->at("phase").get<std::string>();
    error.is_quit = found->value("quit", json(false)) == true;
    return error;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

void write_done_token(const std::filesystem::path& path) {
  write(path, {{"done", true}, {"pid", ::getpid()}, {"time", unix_seconds()}});
}

bool has_done_token(const std::filesystem::path& path, std::int64_t pid) {
  const std::optional<json> found = read(path);
  return found && found->value("done", json(false)) == true && found->value("pid", json(0)) == pid;
}

}  // namespace titan::launch
