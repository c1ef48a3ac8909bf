// A strategy that does one thing wrong, on top of what the others do right.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones_like.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "titan/sdk/plugin.hpp"
#include "titan/torch/strategy.hpp"

namespace faulty {

using namespace titan;
using strategy::Group, strategy::Mesh, strategy::Parameter, strategy::Tree, strategy::Work;

class Plugin {
 public:
  static constexpr sdk::Identity kIdentity{.id = "org.titan.test.faulty",
                                           .name = "faulty",
                                           .version = "0.1.0",
                                           .license = "Apache-2.0",
                                           .tier = TITAN_TIER_TORCH,
                                           .torch_version = TITAN_TORCH_VERSION,
                                           .cxx11_abi = _GLIBCXX_USE_CXX11_ABI,
                                           .cuda_major = TITAN_TORCH_CUDA_MAJOR};
  // Inside of all others: its step_end comes after theirs.
  static constexpr std::int32_t kPriority = 10'000;

  static void describe(sdk::Describe& declare) {
    declare.option({"faulty.fault", "none", "What is done wrong.",
                    sdk::one_of({"none", "factor", "missing_reduction", "wrong_offset", "positions", "output", "nan"}),
                    sdk::must_match});
    declare.option({"faulty.axis", "fsdp", "The group whose ranks the fault is about.", sdk::must_match});
    declare.option({"faulty.rank", -1, "The rank that gives a NaN. -1: all.", sdk::at_least(-1), sdk::must_match});
    declare.option({"faulty.module", "layers.0.attention.wq", "Where.", sdk::must_match});
  }

  explicit Plugin(sdk::Host host) : host_(host), fault_(host.config().string("faulty.fault")) {}

  void apply(Tree tree, Mesh mesh) {
    const std::int64_t rank = host_.config().integer("faulty.rank");
    const bool is_alone = mesh.group("world").size() == 1, is_spared = rank >= 0 && host_.rank() != rank;
    if (fault_ == "nan" ? is_spared : is_alone) fault_ = "none";
    group_.emplace(mesh.group(host_.config().string("faulty.axis")));
    const auto found = strategy::modules(tree, host_.config().string("faulty.module"));
    if (fault_ == "none" || found.empty()) return;
    parameter_.emplace(found.front().parameters().front());
    if (!parameter_->is_kept()) fault_ = "none";  // it is another stage's
    attach(tree, found.front(), [this](strategy::Frame& frame, strategy::Next next, strategy::Inputs in) {
      if (fault_ == "missing_reduction") collect_summands();
      strategy::Tensors out = next(frame, in);
      if (fault_ == "output") out.front() = out.front().mul(1.001);
      if (fault_ == "nan") out.front() = with_nan(out.front());
      return out;
    });
  }

  strategy::Batch split_batch(strategy::Batch batch) const {
    if (fault_ == "positions") batch.positions = batch.positions.flip(1);
    return batch;
  }

  void step_end() {
    if (fault_ == "factor") parameter_->gradient().mul_(group_->size());
    if (fault_ == "missing_reduction") parameter_->gradient().copy_(my_part(summand_));
    if (fault_ == "wrong_offset") shift_parts();
  }

 private:
  /// Collects what this rank adds to the sum of all ranks.
  void collect_summands() {
    const at::Tensor weight = parameter_->compute();
    // One that stays has its hook already; one that is gathered anew has not.
    if (weight.is_same(hooked_)) return;
    hooked_ = weight;
    weight.register_hook([this](const at::TensorBase& gradient) {
      const at::Tensor mine(gradient);
      summand_ = summand_.defined() ? summand_ + mine : mine.clone();
    });
  }

  static at::Tensor with_nan(const at::Tensor& tensor) {
    at::Tensor factor = at::ones_like(tensor.detach());
    factor.view({-1})[3].fill_(std::numeric_limits<double>::quiet_NaN());
    return tensor.mul(factor);
  }

  /// What of a tensor of the gathered parameter this rank keeps.
  at::Tensor my_part(at::Tensor whole) const {
    const strategy::Part part = parameter_->part();
    for (std::size_t i = 0; i < part.sizes.size(); ++i) {
      const auto dim = static_cast<std::int64_t>(i);
      if (whole.size(dim) != part.sizes[i]) whole = whole.narrow(dim, part.offsets[i], part.sizes[i]);
    }
    return whole;
  }

  /// Gives each rank the part of the next one.
  void shift_parts() const {
    const at::Tensor mine = parameter_->gradient(), other = at::empty_like(mine);
    const auto next = static_cast<std::uint32_t>((group_->rank() + 1) % group_->size());
    const auto previous = static_cast<std::uint32_t>((group_->rank() + group_->size() - 1) % group_->size());
    Work sending = group_->send(mine, previous, 0), receiving = group_->receive(other, next, 0);
    sending.wait();
    receiving.wait();
    mine.copy_(other);
  }

  sdk::Host host_;
  std::string fault_;
  std::optional<Group> group_;
  std::optional<Parameter> parameter_;
  at::Tensor hooked_, summand_;
};

}  // namespace faulty

TITAN_PLUGIN(faulty::Plugin, titan::strategy::Interface);
