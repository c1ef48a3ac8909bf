#include <chrono>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <thread>

#include "titan/sdk/breakpoint.hpp"
#include "titan/torch/strategy.hpp"

namespace {

namespace strategy = titan::strategy;

/// Calls a breakpoint on the rank TITAN_BREAKER_RANK, in forward of layers.0 or, with TITAN_BREAKER=backward, in its
/// backward; in every micro-batch. TITAN_BREAKER=late: rank 0 does at once, and the rank 2 s later.
/// TITAN_BREAKER=swallow: catches what a quit throws, and sleeps.
class Breaker {
 public:
  static constexpr titan::sdk::Identity kIdentity{.id = "org.titan.test.breaker",
                                                  .name = "breaker",
                                                  .version = "0.1.0",
                                                  .license = "Apache-2.0",
                                                  .tier = TITAN_TIER_TORCH,
                                                  .torch_version = TITAN_TORCH_VERSION,
                                                  .cxx11_abi = _GLIBCXX_USE_CXX11_ABI,
                                                  .cuda_major = TITAN_TORCH_CUDA_MAJOR};
  static constexpr std::int32_t kPriority = 0;

  static void describe(titan::sdk::Describe&) {}
  explicit Breaker(titan::sdk::Host host) : host_(host) {}

  void apply(strategy::Tree tree, strategy::Mesh) {
    attach(tree, "layers.0", [host = host_](strategy::Frame& f, strategy::Next next, strategy::Inputs in) {
      const at::Tensor& x = in[0];
      if (mode() == "late") {
        titan::sdk::breakpoint(host, 0, "before the block");
        std::this_thread::sleep_for(std::chrono::seconds(2));
      }
      if (mode() == "swallow") return swallow(host), next(f, in);
      if (mode() != "backward") titan::sdk::breakpoint(host, rank(), "before the block", {{"x", lend(x)}});
      strategy::Tensors out = next(f, in);
      if (mode() == "backward" && out[0].requires_grad()) {
        strategy::on_gradient(out[0], [host] { titan::sdk::breakpoint(host, rank(), "in backward"); });
      }
      return out;
    });
  }

 private:
  static void swallow(const titan::sdk::Host& host) {
    try {
      titan::sdk::breakpoint(host, rank(), "before the block");
    } catch (const std::exception&) {
      std::this_thread::sleep_for(std::chrono::hours(1));
    }
  }
  static titan_tensor lend(const at::Tensor& x) { return titan::handle::lend(x); }
  static std::string_view mode() {
    const char* value = std::getenv("TITAN_BREAKER");
    return value == nullptr ? "" : value;
  }
  static std::uint32_t rank() {
    const char* value = std::getenv("TITAN_BREAKER_RANK");
    return value == nullptr ? 0 : static_cast<std::uint32_t>(std::atoi(value));
  }

  titan::sdk::Host host_;
};

}  // namespace

TITAN_PLUGIN(Breaker, strategy::Interface);
