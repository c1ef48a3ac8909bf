#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include <cstdint>
#include <optional>
#include <string>

#include "titan/sdk/plugin.hpp"
#include "titan/torch/strategy.hpp"

namespace {

using namespace titan;

/// In each forward of a module the ranks make calls of their own; by seeded.fault one of them leaves some out, or makes
/// others.
class SeededCalls {
 public:
  static constexpr sdk::Identity kIdentity{.id = "org.titan.test.seeded_calls",
                                           .name = "seeded_calls",
                                           .version = "0.1.0",
                                           .license = "Apache-2.0",
                                           .tier = TITAN_TIER_TORCH,
                                           .torch_version = TITAN_TORCH_VERSION,
                                           .cxx11_abi = _GLIBCXX_USE_CXX11_ABI,
                                           .cuda_major = TITAN_TORCH_CUDA_MAJOR};
  static constexpr std::int32_t kPriority = 10'000;

  static void describe(sdk::Describe& declare) {
    declare.option({"seeded.fault", "none", "What is done wrong.",
                    sdk::one_of({"none", "skipped_gather", "wrong_dtype", "missing_receive"})});
    declare.option({"seeded.rank", 1, "The rank that does it.", sdk::at_least(0)});
  }
  explicit SeededCalls(sdk::Host host)
      : fault_(host.rank() == host.config().integer("seeded.rank") ? host.config().string("seeded.fault") : "none") {}

  void apply(strategy::Tree tree, strategy::Mesh mesh) {
    group_.emplace(mesh.group("dp_shard"));
    attach(tree, "layers.1.attention", [this](strategy::Frame& frame, strategy::Next next, strategy::Inputs in) {
      strategy::Tensors out = next(frame, in);
      gather(out.front());
      pass_on(out.front());
      return out;
    });
  }

 private:
  void gather(const at::Tensor& like) const {
    if (fault_ == "skipped_gather") return;
    const at::TensorOptions options =
        like.options().requires_grad(false).dtype(fault_ == "wrong_dtype" ? at::kDouble : at::kFloat);
    group_->all_gather(at::zeros({8 * group_->size()}, options), at::ones({8}, options)).wait();
  }

  /// From the first rank to the second.
  void pass_on(const at::Tensor& like) const {
    const at::Tensor buffer = at::ones({4}, like.options().requires_grad(false).dtype(at::kFloat));
    if (group_->rank() == 0) group_->send(buffer, 1, 7).wait();
    if (group_->rank() == 1 && fault_ != "missing_receive") group_->receive(buffer, 0, 7).wait();
  }

  std::string fault_;
  std::optional<strategy::Group> group_;
};

}  // namespace

TITAN_PLUGIN(SeededCalls, titan::strategy::Interface);
