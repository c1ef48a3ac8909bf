#include "plugins/parallel/context_parallel/strategy.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "plugins/parallel/context_parallel/load_balancer.hpp"
#include "plugins/parallel/context_parallel/ring_attention.hpp"
#include "plugins/parallel/division.hpp"

namespace titan::parallel {
namespace {

constexpr const char* kLengthOption = "training.max_context_length";
constexpr const char* kAttention = "titan.attention";

void describe(sdk::Describe& declare) {
  declare.option({kBalancerOption, "headtail",
                  "How rows of tokens are cut for context parallelism. headtail: each rank has a chunk from the front "
                  "and its mirror image from the back, so that all have the same work under a causal mask. none: each "
                  "has one piece, and later ones have more to do.",
                  sdk::one_of({"headtail", "none"}), sdk::must_match});
}

LoadBalancer balancer_of(const sdk::Config& config) { return load_balancer(config.string(kBalancerOption)); }

void validate(const sdk::Config& config, const titan_mesh_facts& mesh, const titan_model_facts&) {
  if (mesh.cp == 1) return;
  const LoadBalancer balancer = balancer_of(config);
  const std::int64_t length = config.integer(kLengthOption), chunks = num_chunks(balancer, mesh.cp);
  if (length % chunks == 0) return;
  const bool is_headtail = balancer == LoadBalancer::headtail;
  throw sdk::ConfigError("[context_parallel] ", kLengthOption, " must be a multiple of ",
                         is_headtail ? "2 x context_parallel_degree with load balancer headtail: "
                                     : "context_parallel_degree with load balancer none: ",
                         division(length, chunks),
                         is_headtail && length % mesh.cp == 0
                             ? sdk::concat(": set another length, or --", kBalancerOption, " none")
                             : ": set another length or degree");
}

/// Around attention: computes it with the other ranks in place of the module.
class RingModule {
 public:
  RingModule(RingAttention ring, std::optional<double> scale) : ring_(std::move(ring)), scale_(scale) {}

  strategy::Tensors operator()(strategy::Frame& frame, strategy::Next next, strategy::Inputs in) const {
    // All ranks have as many rows and heads: nothing to attend to is nothing on all of them.
    if (in.size() < 3 || in[0].numel() == 0 || in[1].numel() == 0) return next(frame, in);
    check(in);
    const double scale = scale_.value_or(1 / std::sqrt(static_cast<double>(in[0].size(3))));
    return {ring_attention(ring_, in[0], in[1], in[2], scale)};
  }

 private:
  void check(strategy::Inputs in) const {
    const at::Tensor &q = in[0], &k = in[1], &v = in[2];
    if (q.dim() != 4 || k.dim() != 4 || !v.sizes().equals(k.sizes()) || q.size(0) != k.size(0) ||
        q.size(1) != k.size(1) || q.size(3) != k.size(3) || q.size(2) % k.size(2) != 0) {
      throw sdk::ConfigError("[context_parallel] attention around a ring is for queries and keys of the same tokens: ",
                             ring_.module, ", q ", sizes(q), ", k ", sizes(k), ", v ", sizes(v),
                             ": q [B, L, N, H], k and v [B, L, K, H], N a multiple of K");
    }
    if (q.scalar_type() != k.scalar_type() || q.scalar_type() != v.scalar_type()) {
      throw sdk::ConfigError("[context_parallel] q, k and v must have one dtype: ", ring_.module);
    }
    if (ring_.is_causal && ring_.balancer == LoadBalancer::headtail && q.size(1) % 2 != 0) {
      throw sdk::ConfigError(
          "[context_parallel] a rank's part of a row must have an even number of tokens with load "
          "balancer headtail: ",
          ring_.module, ", ", q.size(1));
    }
  }
  static std::string sizes(const at::Tensor& tensor) {
    std::string text = "[";
    for (const std::int64_t size : tensor.sizes()) text += sdk::concat(text.size() > 1 ? ", " : "", size);
    return text + "]";
  }

  RingAttention ring_;
  std::optional<double> scale_;
};

std::optional<double> scale_of(const strategy::Module& module) {
  const double scale = module.number("scale", std::nan(""));
  return std::isnan(scale) ? std::nullopt : std::optional(scale);
}

bool is_causal(const strategy::Module& module) {
  const std::string_view mask = module.text("mask", "");
  if (mask == "causal") return true;
  if (mask == "none") return false;
  throw sdk::ConfigError("[context_parallel] attention with this mask cannot be split along the sequence: ", mask, ", ",
                         module.name(),
                         ": causal and none can: set --model.attn_mask_type causal, or "
                         "--parallelism.context_parallel_degree 1");
}

/// Gives this rank its columns of each micro-batch.
class ContextParallel : public Part {
 public:
  ContextParallel(const strategy::Group& group, LoadBalancer balancer) : group_(group), balancer_(balancer) {}

  strategy::Batch split_batch(const strategy::Batch& batch) override {
    return {mine(batch.tokens), mine(batch.labels), mine(batch.positions)};
  }

 private:
  at::Tensor mine(const at::Tensor& rows) const {
    return columns_of_rank(rows, balancer_, group_.rank(), group_.size());
  }

  strategy::Group group_;
  LoadBalancer balancer_;
};

std::shared_ptr<Part> apply(const sdk::Host& host, const strategy::Tree& tree, const strategy::Mesh& mesh, Applied&) {
  const strategy::Group group = mesh.group("cp");
  if (group.size() == 1) return nullptr;
  const LoadBalancer balancer = balancer_of(host.config());
  const strategy::Tree ours = tree.at_priority(priority::kContext);
  std::size_t num_rings = 0;
  for (const strategy::Module& module : ours.modules()) {
    if (module.kind() != kAttention) continue;
    RingAttention ring{mesh, group, std::string(module.name()), balancer, is_causal(module)};
    attach(ours, module, RingModule(std::move(ring), scale_of(module)));
    ++num_rings;
  }
  if (num_rings == 0) {
    throw sdk::ConfigError("[context_parallel] the model has no module of kind ", kAttention,
                           ", so its rows cannot be split: set --parallelism.context_parallel_degree 1");
  }
  host.info("parallel", sdk::concat("context parallel over ", group.size(), " ranks: ", num_rings,
                                    " ring attentions, load balancer ", host.config().string(kBalancerOption)));
  return std::make_shared<ContextParallel>(group, balancer);
}

}  // namespace

const Strategy kContextParallel{describe, validate, apply};

}  // namespace titan::parallel
