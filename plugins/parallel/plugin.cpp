#include <memory>

#include "plugins/parallel/data_parallel.hpp"
#include "titan/sdk/plugin.hpp"
#include "titan/torch/strategy.hpp"

namespace titan::parallel {
namespace {

/// Data parallelism: DDP, FSDP and HSDP.
class Plugin {
 public:
  static constexpr sdk::Identity kIdentity{.id = "org.titan.parallel",
                                           .name = "parallel",
                                           .version = "0.1.0",
                                           .license = "Apache-2.0",
                                           .tier = TITAN_TIER_TORCH,
                                           .torch_version = TITAN_TORCH_VERSION,
                                           .cxx11_abi = _GLIBCXX_USE_CXX11_ABI,
                                           .cuda_major = TITAN_TORCH_CUDA_MAJOR};
  /// Outside of everything that runs inside a block.
  static constexpr std::int32_t kPriority = 200;

  static void describe(sdk::Describe& declare) {
    declare.option({"parallelism.fsdp_reshard_after_forward", "default",
                    "Whether FSDP lets go of a block's gathered parameters after its forward and gathers them again "
                    "before its backward: always, never, or default: all blocks but the last one, whose backward comes "
                    "at once. never saves one gather a block and micro-batch, and keeps the whole model in memory.",
                    sdk::one_of({"default", "always", "never"}), sdk::must_match});
  }

  explicit Plugin(sdk::Host host)
      : host_(host), options_{reshard_policy(host.config().string("parallelism.fsdp_reshard_after_forward"))} {}

  void apply(strategy::Tree tree, strategy::Mesh mesh) {
    const auto made = DataParallel::apply(tree, mesh, options_);
    if (made != nullptr) host_.info("parallel", made->description());
    running_ = made;
  }
  void materialised() {
    if (const auto running = running_.lock()) running->materialised();
  }
  void micro_batch_begin(const titan_micro_batch& micro_batch) {
    if (const auto running = running_.lock()) running->micro_batch_begin(micro_batch);
  }
  void micro_batch_end(const titan_micro_batch& micro_batch) {
    if (const auto running = running_.lock()) running->micro_batch_end(micro_batch);
  }
  void updated() {
    if (const auto running = running_.lock()) running->updated();
  }

 private:
  sdk::Host host_;
  Options options_;
  std::weak_ptr<DataParallel> running_;  // the tree owns it: works must end before the mesh does
};

}  // namespace
}  // namespace titan::parallel

TITAN_PLUGIN(titan::parallel::Plugin, titan::strategy::Interface);
