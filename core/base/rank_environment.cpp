#include "core/base/rank_environment.hpp"

#include <cstdlib>
#include <limits>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/number.hpp"

namespace titan {
namespace {

using Variable = std::function<std::optional<std::string>(const char* name)>;

// c10d's ranks are ints.
constexpr std::int64_t kMostRanks = std::numeric_limits<int>::max();
constexpr std::int64_t kLastPort = 65535;
constexpr std::size_t kLongestHostName = 253;
constexpr std::size_t kLongestQuote = 80;

struct Range {
  std::int64_t first = 0;
  std::int64_t last = 0;
  // Where the end of the range comes from, for the message: " (WORLD_SIZE 4)".
  std::string reason;
};

std::string quoted(const std::string& value) { return concat('"', printable(shortened(value, kLongestQuote)), '"'); }

std::int64_t to_integer(const char* name, const std::string& value, const Range& range) {
  const std::optional<std::int64_t> number = parse_number<std::int64_t>(value);
  if (number && *number >= range.first && *number <= range.last) return *number;
  const std::string bounds =
      range.last == kMostRanks ? concat("of at least ", range.first) : concat("from ", range.first, " to ", range.last);
  throw ConfigError("[ranks] the environment variable ", name, " must be an integer ", bounds, range.reason, ": ",
                    quoted(value));
}

std::int64_t integer_or(const Variable& variable, const char* name, const Range& range, std::int64_t otherwise) {
  const std::optional<std::string> value = variable(name);
  return value ? to_integer(name, *value, range) : otherwise;
}

bool boolean_or(const Variable& variable, const char* name, bool otherwise) {
  const std::optional<std::string> value = variable(name);
  if (!value) return otherwise;
  if (*value == "False" || *value == "false" || *value == "0") return false;
  if (*value == "True" || *value == "true" || *value == "1") return true;
  throw ConfigError("[ranks] the environment variable ", name, " must be True or False: ", quoted(*value));
}

[[noreturn]] void throw_missing(const char* missing, const char* present, const std::string& value) {
  throw ConfigError("[ranks] the environment variable ", missing, " is missing, though ", present, " is set: ", present,
                    ' ', quoted(value), ": set both, as torchrun does, or neither");
}

void read_place(RankEnvironment& ranks, const Variable& variable, const std::string& rank) {
  ranks.rank = to_integer("RANK", rank, {0, ranks.world_size - 1, concat(" (WORLD_SIZE ", ranks.world_size, ')')});
  ranks.local_world_size =
      integer_or(variable, "LOCAL_WORLD_SIZE", {1, ranks.world_size, concat(" (WORLD_SIZE ", ranks.world_size, ')')},
                 ranks.world_size);
  const Range local{0, ranks.local_world_size - 1, concat(" (LOCAL_WORLD_SIZE ", ranks.local_world_size, ')')};
  ranks.local_rank = integer_or(variable, "LOCAL_RANK", local, ranks.rank);
  if (ranks.local_rank > local.last) {
    throw ConfigError("[ranks] the environment variable LOCAL_RANK is missing, and RANK cannot stand for it: RANK ",
                      ranks.rank, ", LOCAL_WORLD_SIZE ", ranks.local_world_size);
  }
}

std::string to_address(const std::string& value) {
  const bool plain = value.find_first_of(" \t\r\n") == std::string::npos && printable(value) == value;
  if (!value.empty() && value.size() <= kLongestHostName && plain) return value;
  throw ConfigError("[ranks] the environment variable MASTER_ADDR must be a host name or an IP address: ",
                    quoted(value));
}

// One rank meets nobody and needs no address.
void read_meeting_place(RankEnvironment& ranks, const Variable& variable) {
  const std::optional<std::string> address = variable("MASTER_ADDR");
  const std::optional<std::string> port = variable("MASTER_PORT");
  if (ranks.world_size > 1 && (!address || !port)) {
    throw ConfigError("[ranks] the environment variable ", address ? "MASTER_PORT" : "MASTER_ADDR",
                      " is missing: MASTER_ADDR and MASTER_PORT say where ranks meet: WORLD_SIZE ", ranks.world_size);
  }
  if (address) ranks.master_address = to_address(*address);
  if (port) ranks.master_port = to_integer("MASTER_PORT", *port, {1, kLastPort, {}});
}

}  // namespace

std::optional<RankEnvironment> read_rank_environment(const Variable& variable) {
  const std::optional<std::string> rank = variable("RANK");
  const std::optional<std::string> size = variable("WORLD_SIZE");
  if (!rank && !size) return std::nullopt;
  if (!rank) throw_missing("RANK", "WORLD_SIZE", *size);
  if (!size) throw_missing("WORLD_SIZE", "RANK", *rank);
  RankEnvironment ranks;
  ranks.world_size = to_integer("WORLD_SIZE", *size, {1, kMostRanks, {}});
  read_place(ranks, variable, *rank);
  read_meeting_place(ranks, variable);
  ranks.launcher_has_store = boolean_or(variable, "TORCHELASTIC_USE_AGENT_STORE", false);
  ranks.restart_count = integer_or(variable, "TORCHELASTIC_RESTART_COUNT", {0, kMostRanks, {}}, 0);
  ranks.run_id = variable("TORCHELASTIC_RUN_ID").value_or("");
  // 0 to 2 are the standard streams.
  ranks.is_shown = boolean_or(variable, "TITAN_CONSOLE", true);
  ranks.store_socket = static_cast<int>(integer_or(variable, "TITAN_STORE_FD", {3, kMostRanks, {}}, -1));
  return ranks;
}

std::optional<RankEnvironment> read_rank_environment() {
  return read_rank_environment([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return value;
  });
}

}  // namespace titan
