#include <ATen/ops/ones.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "titan/sdk/plugin.hpp"
#include "titan/torch/strategy.hpp"

namespace {

using namespace titan;

/// After the backward of the third step all ranks call collectives of their own, and the rank that TITAN_ODD_RANK names
/// calls others: by TITAN_ODD_CALL another shape, another dtype, the same ones in another order, or one alone.
class OddCaller {
 public:
  static constexpr sdk::Identity kIdentity{.id = "org.titan.test.odd_caller",
                                           .name = "odd_caller",
                                           .version = "0.1.0",
                                           .license = "Apache-2.0",
                                           .tier = TITAN_TIER_TORCH,
                                           .torch_version = TITAN_TORCH_VERSION,
                                           .cxx11_abi = _GLIBCXX_USE_CXX11_ABI,
                                           .cuda_major = TITAN_TORCH_CUDA_MAJOR};
  static constexpr std::int32_t kPriority = 10'000;

  static void describe(sdk::Describe&) {}
  explicit OddCaller(sdk::Host) {}

  void apply(strategy::Tree, strategy::Mesh mesh) { mesh_.emplace(mesh); }
  void step_end() {
    if (++step_ != 3) return;
    const strategy::Group world = mesh_->group("world");
    const auto scope = mesh_->in_module("odd.module");
    const bool is_odd = std::to_string(world.rank()) == setting("TITAN_ODD_RANK");
    call(world, is_odd ? setting("TITAN_ODD_CALL") : "even");
  }

 private:
  static std::string setting(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : value;
  }

  static void call(const strategy::Group& world, const std::string& how) {
    const at::Tensor tensor = at::ones({how == "shape" ? 9000 : 8}, how == "dtype" ? at::kDouble : at::kFloat);
    if (how == "alone") world.broadcast(tensor, 0).wait();
    if (how == "order") world.broadcast(tensor, 0).wait();
    world.all_reduce(tensor).wait();
    if (how != "order") world.broadcast(tensor, 0).wait();
  }

  std::optional<strategy::Mesh> mesh_;
  std::int64_t step_ = 0;
};

}  // namespace

TITAN_PLUGIN(OddCaller, titan::strategy::Interface);
