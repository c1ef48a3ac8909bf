#include "core/launch/rank_variables.hpp"

#include <unistd.h>

#include <algorithm>
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

bool is_shown(const LaunchOptions& options, std::int64_t rank) {
  return std::ranges::binary_search(options.shown_ranks, rank);
}

Variables rank_variables(const Variables& inherited, const LaunchOptions& options, std::int64_t local_rank,
                         std::int64_t store_port, const RankDescriptors& descriptors, const ReportFiles& report) {
  Variables out = inherited;
  for (const char* name : {"TITAN_STORE_FD", "TITAN_INPUT_FD", "TITAN_NOTICE_FD", "TORCHELASTIC_ERROR_FILE",
                           "TORCHELASTIC_USE_AGENT_STORE"}) {
    out.erase(name);
  }
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
  set("TITAN_CONSOLE", is_shown(options, rank) ? 1 : 0);
  const auto set_descriptor = [&](const char* name, int descriptor) {
    if (descriptor >= 0) set(name, descriptor);
  };
  set_descriptor("TITAN_STORE_FD", descriptors.store_socket);
  set_descriptor("TITAN_INPUT_FD", descriptors.input);
  set_descriptor("TITAN_NOTICE_FD", descriptors.notices);
  out["TITAN_ERROR_FILE"] = report.error;
  out["TITAN_DONE_FILE"] = report.done;
  return out;
}

}  // namespace titan::launch
