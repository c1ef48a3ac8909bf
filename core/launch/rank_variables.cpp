#include "core/launch/rank_variables.hpp"

#include <unistd.h>

#include <string_view>

namespace titan::launch {

Variables own_variables() {
  Variables variables;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (const std::size_t sign = text.find('='); sign != std::string_view::npos) {
      variables.emplace(text.substr(0, sign), text.substr(sign + 1));
    }
  }
  return variables;
}

Variables rank_variables(const Variables& inherited, const LaunchOptions& options, std::int64_t local_rank,
                         std::int64_t store_port, int store_socket, const ReportFiles& report) {
  Variables out = inherited;
  for (const char* name : {"TITAN_STORE_FD", "TORCHELASTIC_ERROR_FILE", "TORCHELASTIC_USE_AGENT_STORE"})
    out.erase(name);
  const auto set = [&](const char* name, std::int64_t value) { out[name] = std::to_string(value); };
  const std::int64_t rank = options.rank(local_rank);
  set("RANK", rank);
  set("WORLD_SIZE", options.world_size());
  set("LOCAL_RANK", local_rank);
  set("LOCAL_WORLD_SIZE", options.num_local_ranks);
  set("GROUP_RANK", options.node_rank);
  set("GROUP_WORLD_SIZE", options.num_nodes);
  set("NODE_RANK", options.node_rank);
  set("ROLE_RANK", rank);
  set("ROLE_WORLD_SIZE", options.world_size());
  out["ROLE_NAME"] = options.role;
  out["MASTER_ADDR"] = options.meeting_point.host;
  set("MASTER_PORT", store_port);
  set("TORCHELASTIC_RESTART_COUNT", 0);
  set("TORCHELASTIC_MAX_RESTARTS", 0);
  out["TORCHELASTIC_RUN_ID"] = options.run_id;
  if (store_socket >= 0) set("TITAN_STORE_FD", store_socket);
  out["TITAN_ERROR_FILE"] = report.error;
  out["TITAN_DONE_FILE"] = report.done;
  return out;
}

}  // namespace titan::launch
