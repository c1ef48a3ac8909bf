#include "plugins/observability/profiler/trace_head.hpp"

#include <algorithm>

#include "plugins/observability/json_line.hpp"

namespace titan::observability {
namespace {

/// The degrees of the layout; what is to be inferred fills the ranks.
std::string mesh_json(const sdk::Config& config, std::int64_t world_size) {
  const auto degree = [&config](const char* name) {
    return config.integer(sdk::concat("parallelism.", name, "_degree"));
  };
  const std::int64_t pp = degree("pipeline_parallel"), dp_replicate = degree("data_parallel_replicate"),
                     cp = degree("context_parallel"), tp = degree("tensor_parallel");
  std::int64_t dp_shard = degree("data_parallel_shard");
  if (dp_shard < 0) dp_shard = world_size / std::max<std::int64_t>(pp * dp_replicate * cp * tp, 1);
  return JsonLine()
      .add("pp", pp)
      .add("dp_replicate", dp_replicate)
      .add("dp_shard", dp_shard)
      .add("cp", cp)
      .add("tp", tp)
      .add("ep", degree("expert_parallel"))
      .object();
}

}  // namespace

std::string trace_head(const TraceOrigin& origin, const sdk::Config& config) {
  const std::string distributed = JsonLine()
                                      .add("backend", origin.is_cuda ? "nccl" : "gloo")
                                      .add("rank", std::int64_t{origin.rank})
                                      .add("world_size", std::int64_t{origin.world_size})
                                      .object();
  const std::string titan = JsonLine()
                                .add("version", TITAN_VERSION)
                                .add("rank", std::int64_t{origin.rank})
                                .add("world_size", std::int64_t{origin.world_size})
                                .add("first_step", origin.first_step)
                                .add("last_step", origin.last_step)
                                .add_json("mesh", mesh_json(config, origin.world_size))
                                .object();
  return sdk::concat("  \"distributedInfo\": ", distributed, ",\n  \"titan\": ", titan);
}

}  // namespace titan::observability
