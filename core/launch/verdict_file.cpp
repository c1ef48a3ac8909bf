#include "core/launch/verdict_file.hpp"

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/json.hpp"

namespace titan::launch {
namespace {

using nlohmann::json;

constexpr std::uint64_t kLargestFile = 256 * 1024;
constexpr std::size_t kLongestMessage = 32 * 1024;

}  // namespace

std::filesystem::path verdict_file(const std::filesystem::path& report_folder, std::int64_t node_rank) {
  return report_folder / (node_rank == 0 ? "verdict.json" : concat("verdict_node_", node_rank, ".json"));
}

bool is_verdict_file(const std::filesystem::path& path) {
  const std::string name = path.filename().native();
  return name == "verdict.json" || (name.starts_with("verdict_node_") && name.ends_with(".json"));
}

void write_job_words(const std::filesystem::path& path, const JobWords& words) {
  const json value = {{"status", words.status},
                      {"rank", words.rank},
                      {"message", shortened(words.message, kLongestMessage)},
                      {"time", words.time},
                      {"quit", words.is_quit}};
  write_file_atomically(path, value.dump(2, ' ', false, json::error_handler_t::replace) + '\n');
}

std::optional<JobWords> read_job_words(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  try {
    const json found = parse_json(read_file(path, kLargestFile), path.native());
    if (!found.is_object()) return std::nullopt;
    return JobWords{.status = found.at("status").get<int>(),
                    .rank = found.at("rank").get<std::int64_t>(),
                    .message = found.at("message").get<std::string>(),
                    .time = found.at("time").get<double>(),
                    .is_quit = found.at("quit").get<bool>()};
  } catch (const Error&) {
    return std::nullopt;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace titan::launch
