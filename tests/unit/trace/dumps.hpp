#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/trace/dump.hpp"
#include "tests/support/pickled.hpp"

/// Flight-recorder dumps in JSON.
namespace titan::trace {

using Json = nlohmann::ordered_json;

/// A call as PyTorch records it.
inline Json call(const std::string& op, int sequence, const std::string& state, Json shape = Json::array({4}),
                 const std::string& group = "fsdp") {
  const bool is_p2p = op.starts_with("send") || op.starts_with("recv");
  return {{"record_id", sequence - 1},
          {"pg_id", 0},
          {"process_group", Json::array({group, group + "_desc"})},
          {"collective_seq_id", is_p2p ? 0 : sequence},
          {"p2p_seq_id", is_p2p ? sequence : 0},
          {"op_id", sequence},
          {"profiling_name", "nccl:" + op},
          {"time_created_ns", 1'000'000 + sequence * 1000},
          {"input_sizes", Json::array({shape})},
          {"input_dtypes", Json::array({"Float"})},
          {"output_sizes", Json::array({shape})},
          {"output_dtypes", Json::array({"Float"})},
          {"state", state},
          {"retired", state == "completed"},
          {"is_p2p", is_p2p},
          {"module", "layers." + std::to_string(sequence)}};
}

/// A dump of titan's with groups of these names and ranks.
inline Json dump(std::vector<Json> calls, const std::string& place = "",
                 std::vector<std::pair<std::string, std::string>> groups = {{"fsdp", "[0, 1]"}}) {
  Json config = Json::object();
  for (const auto& [name, ranks] : groups) config[name] = {{"name", name}, {"desc", name + "_desc"}, {"ranks", ranks}};
  Json json{{"version", "2.10"}, {"pg_config", config}, {"entries", std::move(calls)}};
  if (!place.empty()) {
    json["titan"] = {{"place", place}, {"cause", "timeout"}, {"reason", "late"},
                     {"rank", 0},      {"world_size", 2},    {"forgotten", 0}};
  }
  return json;
}

/// Dumps of ranks 0, 1, ...; null: none.
inline Dumps dumps_of(const std::vector<Json>& ranks) {
  Dumps dumps;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].is_null()) continue;
    read_dump(titan::testing::pickled(ranks[rank]), static_cast<std::int64_t>(rank), "rank_" + std::to_string(rank),
              dumps);
  }
  return dumps;
}

}  // namespace titan::trace
