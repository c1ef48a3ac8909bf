#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <utility>

#include "titan/abi/tree.h"
#include "titan/sdk/tensor.hpp"

namespace titan::sdk {

/// The host tables that the modules of one model share.
struct ModuleApi {
  explicit ModuleApi(Host host) : tensors(host), tree(host.require<titan_tree_v1>(TITAN_TREE_V1)) {}
  Host host() const noexcept { return tensors.host(); }

  TensorApi tensors;
  const titan_tree_v1* tree;
};

/// A module that can be called from a forward: `f(wq_, x)`. Just an index into the host's tree.
template <std::size_t kOutputs>
struct Callable {
  titan_module id = TITAN_MODULE_ROOT;
};
/// A module with one output.
using Leaf = Callable<1>;
/// Norm behind a residual connection: (x, residual) -> (norm of x + residual, x + residual).
using ResidualNormLeaf = Callable<2>;
/// Rotary embedding: (q, k, positions) -> (q, k).
using RopeLeaf = Callable<2>;
/// Router of a mixture of experts: x -> (scores, experts, counts).
using RouterLeaf = Callable<3>;

/// One running call of one module; valid inside its forward only.
class Frame {
 public:
  Frame(const ModuleApi& api, titan_frame* frame) noexcept : api_(&api), frame_(frame) {}

  Host host() const noexcept { return api_->host(); }

  /// Calls a child through the host, and so through everything attached to it. One output comes as a Tensor, several
  /// as an array that structured bindings take apart.
  template <std::size_t kOutputs, std::same_as<Tensor>... Inputs>
  auto operator()(Callable<kOutputs> module, const Inputs&... inputs) const {
    const std::array<titan_tensor, sizeof...(Inputs)> in{inputs.handle()...};
    std::array<titan_tensor, kOutputs> out{};
    api_->host().check(api_->tree->call(frame_, module.id, in.data(), in.size(), out.data(), kOutputs));
    return take(out, std::make_index_sequence<kOutputs>());
  }

 private:
  template <std::size_t kOutputs, std::size_t... kIndex>
  auto take(const std::array<titan_tensor, kOutputs>& out, std::index_sequence<kIndex...>) const {
    if constexpr (kOutputs == 1) {
      return Tensor(api_->tensors, out[0]);
    } else {
      return std::array<Tensor, kOutputs>{Tensor(api_->tensors, out[kIndex])...};
    }
  }

  const ModuleApi* api_;
  titan_frame* frame_;
};

}  // namespace titan::sdk
