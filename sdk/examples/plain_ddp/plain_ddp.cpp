// Replicated data parallelism in its simplest form: the gradients of a step are summed when its last backward is done.
#include <optional>
#include <vector>

#include "titan/sdk/plugin.hpp"
#include "titan/torch/strategy.hpp"

namespace plain_ddp {

using namespace titan;
using strategy::Gradient, strategy::Group, strategy::Mesh, strategy::Parameter, strategy::Tree, strategy::Work;

class Plugin {
 public:
  static constexpr sdk::Identity kIdentity{.id = "org.example.plain_ddp",
                                           .name = "plain_ddp",
                                           .version = "0.1.0",
                                           .license = "MIT",
                                           .tier = TITAN_TIER_TORCH,
                                           .torch_version = TITAN_TORCH_VERSION,
                                           .cxx11_abi = _GLIBCXX_USE_CXX11_ABI,
                                           .cuda_major = TITAN_TORCH_CUDA_MAJOR};
  // Outside of strategies with larger numbers.
  static constexpr std::int32_t kPriority = 200;

  static void describe(sdk::Describe&) {}
  explicit Plugin(sdk::Host) {}

  void validate(const titan_mesh_facts& mesh, const titan_model_facts&) {
    if (mesh.dp_shard == 1) return;
    throw sdk::ConfigError("[plain_ddp] parameters cannot be sharded here: ", mesh.dp_shard,
                           " ranks along dp_shard: set --parallelism.data_parallel_shard_degree 1");
  }

  void apply(Tree tree, Mesh mesh) {
    replicas_.emplace(mesh.group("dp_replicate"));
    for (const auto& module : tree.modules()) {
      for (const Parameter& parameter : module.parameters()) parameters_.push_back(parameter);
    }
  }

  void micro_batch_end(const titan_micro_batch& micro_batch) {
    if (!micro_batch.training || !micro_batch.is_last) return;
    std::vector<Work> sums;
    for (const Parameter& parameter : parameters_) sums.push_back(replicas_->all_reduce(parameter.gradient()));
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i].wait();
      parameters_[i].mark_gradient("dp_replicate", Gradient::equal);  // the ledger: this sum is done
    }
  }

 private:
  std::optional<Group> replicas_;
  std::vector<Parameter> parameters_;
};

}  // namespace plain_ddp

TITAN_PLUGIN(plain_ddp::Plugin, titan::strategy::Interface);
