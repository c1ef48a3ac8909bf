#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "titan/sdk/module.hpp"

namespace titan::sdk {

/// How tensor parallelism may split a parameter; see TITAN_SPLIT_*.
enum class Split : std::int32_t {
  replicate = TITAN_SPLIT_REPLICATE,
  column = TITAN_SPLIT_COLUMN,
  row = TITAN_SPLIT_ROW,
  vocab = TITAN_SPLIT_VOCAB,
  sequence = TITAN_SPLIT_SEQUENCE,
  heads = TITAN_SPLIT_HEADS,
  expert_column = TITAN_SPLIT_EXPERT_COLUMN,
  expert_row = TITAN_SPLIT_EXPERT_ROW
};

/// How a parameter starts. The numbers depend on seed, name and element alone, whatever the layout.
struct Init {
  std::int32_t kind = TITAN_INIT_CONSTANT;
  double value = 0, mean = 0, std = 0, low = 0, high = 0;

  static constexpr Init constant(double value) { return {.kind = TITAN_INIT_CONSTANT, .value = value}; }
  static constexpr Init normal(double std) { return {.kind = TITAN_INIT_NORMAL, .std = std}; }
  /// Cut to [low, high] in absolute values, as torch.nn.init.trunc_normal_ and with its defaults.
  static constexpr Init trunc_normal(double std, double low = -2, double high = 2) {
    return {.kind = TITAN_INIT_TRUNC_NORMAL, .std = std, .low = low, .high = high};
  }
};

/// Llama 3.1 scaling of rotary frequencies.
struct RopeScaling {
  double factor = 8;
  double low_freq_factor = 1;
  double high_freq_factor = 4;
  std::int64_t original_max_positions = 8192;
};

/// Attributes of titan.rope.
struct RopeArgs {
  double theta = 10000;
  std::int64_t max_positions = 131072;
  std::optional<RopeScaling> scaling;
};

/// Attributes of titan.attention.
struct AttentionArgs {
  std::string_view mask = "causal";  // none, causal, block_causal
  std::optional<double> scale;       // 1/sqrt(head dim) where absent
};

/// Attributes of titan.router.
struct RouterArgs {
  std::int64_t num_experts = 0;
  std::int64_t top_k = 1;
  std::string_view score_func = "softmax";  // softmax, sigmoid
  bool route_norm = false;
  double route_scale = 1;
  std::int64_t num_expert_groups = 0;  // 0: experts are chosen among all
  std::int64_t num_limited_groups = 0;
  bool gate_bias = false;
  double load_balance_coeff = 0;  // 0: no balancing
  bool force_load_balance = false;
};

/// How the three weights of experts start.
struct ExpertInits {
  Init w1, w2, w3;
};

/// What a chain block takes besides the activations.
enum class ChainInputs : std::uint32_t { none = 0, positions = TITAN_CHAIN_POSITIONS };

/// The place in the tree where a module declares its children. Used while building only, on build()'s thread.
class Scope {
 public:
  Scope(std::shared_ptr<const ModuleApi> api, titan_tree* tree, titan_module module)
      : api_(std::move(api)), tree_(tree), module_(module) {}

  /// x[..., in] -> [..., out]; weight [out, in].
  Leaf linear(std::string_view name, std::int64_t in, std::int64_t out, Split split, const Init& init) {
    return weighted(leaf(name, "titan.linear", {}), std::array{out, in}, split, init);
  }
  /// ids [B, L] int64 -> [B, L, D]; weight [V, D].
  Leaf embedding(std::string_view name, std::int64_t vocab, std::int64_t dim, const Init& init) {
    return weighted(leaf(name, "titan.embedding", {}), std::array{vocab, dim}, Split::vocab, init);
  }
  /// x[..., in] -> [..., out] with the weight [out, in] of another leaf: tied embeddings.
  Leaf tied_linear(std::string_view name, Leaf owner) {
    const Leaf made = leaf(name, "titan.linear", {});
    share(made, "weight", owner, 0);
    return made;
  }
  /// x[..., D] -> [..., D]; weight [D], starts at 1. Norms of q and k split as Split::heads.
  Leaf rms_norm(std::string_view name, std::int64_t dim, double eps, Split split = Split::sequence) {
    return weighted(leaf(name, "titan.rms_norm", std::array{number("eps", eps)}), std::array{dim}, split,
                    Init::constant(1));
  }
  /// x, residual [..., D] -> norm of x + residual, x + residual; otherwise as rms_norm. For `h = x + y; f(norm, h)` in
  /// one pass over memory.
  ResidualNormLeaf residual_rms_norm(std::string_view name, std::int64_t dim, double eps) {
    if (!TITAN_HAS(api_->tree, attach_declared)) {
      throw AbiError("[tree] the host is too old for norms of a sum: its titan.tree/1 is older than 0.5");
    }
    return {rms_norm(name, dim, eps).id};
  }
  /// q [B, L, N, H], k [B, L, K, H], positions [B, L] int64 -> q, k.
  RopeLeaf rope(std::string_view name, const RopeArgs& args);
  /// q [B, L, N, H], k and v [B, L, K, H], positions [B, L] -> [B, L, N, H].
  Leaf attention(std::string_view name, const AttentionArgs& args);
  /// gate, up [..., F] -> silu(gate) * up.
  Leaf swiglu(std::string_view name) { return leaf(name, "titan.swiglu", {}); }
  /// x[..., D] -> scores [T, k], experts [T, k] int64, counts [E] int64 of T tokens; weight [E, D].
  RouterLeaf router(std::string_view name, std::int64_t dim, const RouterArgs& args, const Init& init);
  /// x [M, D] sorted by expert, counts [E] int64 -> [M, D]; w1, w3 [E, F, D], w2 [E, D, F].
  Leaf grouped_experts(std::string_view name, std::int64_t num_experts, std::int64_t dim, std::int64_t hidden_dim,
                       const ExpertInits& inits);
  /// logits [B, L, V], labels [B, L] int64 -> [] sum of losses.
  Leaf cross_entropy(std::string_view name) { return leaf(name, "titan.cross_entropy", {}); }

  /// Adds a module of the model's own; M's constructor gets the child's scope and `args`.
  template <std::derived_from<Module> M, class... Args>
  auto child(std::string_view name, Args&&... args);

  /// Adds a leaf of any kind the host knows.
  Leaf leaf(std::string_view name, std::string_view kind, std::span<const titan_attribute> attributes) {
    Leaf made;
    api_->host().check(api_->tree->add_leaf(tree_, module_, borrow(name), borrow(kind), attributes.data(),
                                            static_cast<std::uint32_t>(attributes.size()), &made.id));
    return made;
  }
  /// Declares a parameter of a leaf: its whole shape, whatever the layout.
  void parameter(Leaf leaf, std::string_view name, std::span<const std::int64_t> shape, Split split, const Init& init);
  /// Gives a leaf parameter `index` of another one as its own: one tensor, under the owner's name.
  void share(Leaf leaf, std::string_view name, Leaf owner, std::uint32_t index) {
    if (!TITAN_HAS(api_->tree, share_parameter)) throw AbiError("[tree] the host is too old for shared parameters");
    api_->host().check(api_->tree->share_parameter(tree_, leaf.id, borrow(name), owner.id, index));
  }
  /// Finds an operator for use in forwards.
  Op op(std::string_view name, std::string_view overload = "") const { return {api_->tensors, name, overload}; }

  /// Appends a block to the chain: the units that are sharded, recomputed and cut into pipeline stages.
  void chain(Leaf block, ChainInputs inputs = ChainInputs::none) {
    api_->host().check(api_->tree->add_to_chain(tree_, block.id, static_cast<std::uint32_t>(inputs)));
  }
  /// Names the module that turns the chain's output and the labels into the summed loss.
  void loss(Leaf leaf) { api_->host().check(api_->tree->set_loss(tree_, leaf.id)); }

  static titan_attribute number(std::string_view key, double value) {
    return {borrow(key), TITAN_ATTRIBUTE_FLOAT, 0, 0, value, kAbsent};
  }
  static titan_attribute integer(std::string_view key, std::int64_t value) {
    return {borrow(key), TITAN_ATTRIBUTE_INT, 0, value, 0, kAbsent};
  }
  static titan_attribute text(std::string_view key, std::string_view value) {
    return {borrow(key), TITAN_ATTRIBUTE_STRING, 0, 0, 0, borrow(value)};
  }

 private:
  Leaf weighted(Leaf leaf, std::span<const std::int64_t> shape, Split split, const Init& init) {
    parameter(leaf, "weight", shape, split, init);
    return leaf;
  }

  std::shared_ptr<const ModuleApi> api_;
  titan_tree* tree_;
  titan_module module_;
};

inline RopeLeaf Scope::rope(std::string_view name, const RopeArgs& args) {
  std::vector<titan_attribute> attributes{number("theta", args.theta), integer("max_positions", args.max_positions)};
  if (args.scaling) {
    attributes.push_back(number("scaling_factor", args.scaling->factor));
    attributes.push_back(number("low_freq_factor", args.scaling->low_freq_factor));
    attributes.push_back(number("high_freq_factor", args.scaling->high_freq_factor));
    attributes.push_back(integer("original_max_positions", args.scaling->original_max_positions));
  }
  return {leaf(name, "titan.rope", attributes).id};
}

inline Leaf Scope::attention(std::string_view name, const AttentionArgs& args) {
  std::vector<titan_attribute> attributes{text("mask", args.mask)};
  if (args.scale) attributes.push_back(number("scale", *args.scale));
  return leaf(name, "titan.attention", attributes);
}

inline RouterLeaf Scope::router(std::string_view name, std::int64_t dim, const RouterArgs& args, const Init& init) {
  const std::array attributes{integer("num_experts", args.num_experts),
                              integer("top_k", args.top_k),
                              text("score_func", args.score_func),
                              integer("route_norm", args.route_norm ? 1 : 0),
                              number("route_scale", args.route_scale),
                              integer("num_expert_groups", args.num_expert_groups),
                              integer("num_limited_groups", args.num_limited_groups),
                              integer("gate_bias", args.gate_bias ? 1 : 0),
                              number("load_balance_coeff", args.load_balance_coeff),
                              integer("force_load_balance", args.force_load_balance ? 1 : 0)};
  const Leaf made =
      weighted(leaf(name, "titan.router", attributes), std::array{args.num_experts, dim}, Split::heads, init);
  if (args.gate_bias) parameter(made, "bias", std::array{args.num_experts}, Split::heads, Init::constant(0));
  return {made.id};
}

inline Leaf Scope::grouped_experts(std::string_view name, std::int64_t num_experts, std::int64_t dim,
                                   std::int64_t hidden_dim, const ExpertInits& inits) {
  const Leaf made = leaf(name, "titan.grouped_experts", {});
  const std::array up{num_experts, hidden_dim, dim}, down{num_experts, dim, hidden_dim};
  parameter(made, "w1", up, Split::expert_column, inits.w1);
  parameter(made, "w2", down, Split::expert_row, inits.w2);
  parameter(made, "w3", up, Split::expert_column, inits.w3);
  return made;
}

inline void Scope::parameter(Leaf leaf, std::string_view name, std::span<const std::int64_t> shape, Split split,
                             const Init& init) {
  titan_parameter data{};
  data.struct_size = sizeof data;
  data.num_dims = static_cast<std::uint32_t>(shape.size());
  data.name = borrow(name);
  data.shape = shape.data();
  data.split = static_cast<std::int32_t>(split);
  data.init = init.kind;
  data.value = init.value;
  data.mean = init.mean;
  data.std = init.std;
  data.low = init.low;
  data.high = init.high;
  api_->host().check(api_->tree->add_parameter(tree_, leaf.id, &data));
}

template <std::derived_from<Module> M, class... Args>
auto Scope::child(std::string_view name, Args&&... args) {
  using Box = module_detail::Box<M>;
  auto box = std::make_unique<Box>();
  box->api = api_;
  Callable<Box::Forward::kOutputs> made;
  api_->host().check(
      api_->tree->add_custom(tree_, module_, borrow(name), &Box::forward, box.get(), &Box::destroy, &made.id));
  // The tree owns the box from here on, also when the module's constructor throws.
  Box* owned = box.release();
  Scope scope(api_, tree_, made.id);
  owned->module.emplace(scope, std::forward<Args>(args)...);
  return made;
}

}  // namespace titan::sdk
