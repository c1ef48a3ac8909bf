#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/bincount.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/softmax.h>
#include <c10/core/GradMode.h>

#include <limits>

#include "core/nn/leaf.hpp"
#include "core/tensor/values.hpp"

namespace titan::nn {
namespace {

// Keeps a sum of weights that underflowed from dividing by zero.
constexpr double kLeastSum = 1e-20;

enum BufferIndex : std::size_t { kExpertBias, kTokensPerExpert };

/// The numbers of the largest `count` values of each row of [T, n], largest first; of equal ones the first.
at::Tensor largest(const at::Tensor& values, std::int64_t count) {
  return std::get<1>(values.sort(/*stable=*/true, /*dim=*/1, /*descending=*/true)).narrow(1, 0, count);
}

/// x[..., D] -> scores [T, k], experts [T, k], counts [E]: which experts each token goes to.
class Router : public Leaf {
 public:
  explicit Router(LeafSetup& setup)
      : Leaf(setup),
        num_experts_(setup.attributes.positive_integer("num_experts")),
        top_k_(setup.attributes.positive_integer("top_k")),
        is_sigmoid_(setup.attributes.choice("score_func", {"softmax", "sigmoid"}) == "sigmoid"),
        normalises_(setup.attributes.flag("route_norm")),
        scale_(setup.attributes.optional_number("route_scale").value_or(1)),
        num_groups_(setup.attributes.count("num_expert_groups")),
        num_limited_groups_(setup.attributes.count("num_limited_groups")),
        has_bias_(setup.attributes.flag("gate_bias")),
        coefficient_(setup.attributes.optional_number("load_balance_coeff").value_or(0)),
        is_forced_(setup.attributes.flag("force_load_balance")) {
    check_groups();
    if (coefficient_ < 0) fail("attribute must not be negative: load_balance_coeff is ", coefficient_);
  }

  std::span<const ParameterRule> parameters() const override {
    static constexpr ParameterRule kRules[] = {{"weight", 2}, {"bias", 1}};
    return {kRules, has_bias_ ? 2U : 1U};
  }
  std::vector<BufferRule> buffers() const override {
    if (coefficient_ == 0) return {};
    return {{"expert_bias", {num_experts_}, at::kFloat, true, false},
            {"tokens_per_expert", {num_experts_}, at::kLong, false, true}};
  }

  Tensors forward(Frame& frame, const Tensors& in) override {
    require_inputs(in, 1, 1);
    require_floating(in[0], "x");
    require_size(in[0], -1, frame.parameter(0).size(1), "x");
    const at::Tensor scores = score(frame, in[0].flatten(0, -2));
    const at::Tensor experts = choose(frame, scores.detach());
    // In a rehearsal every expert is chosen as often: how often is a value, and on the host, where others read it.
    const at::Tensor counts =
        tensor::has_values(experts) ? at::bincount(experts.flatten(), {}, num_experts_) : even_counts(experts.numel());
    if (coefficient_ != 0 && frame.phase() == Phase::training) {
      frame.buffer(kTokensPerExpert).add_(counts.to(experts.device()));
    }
    return {weigh(scores.gather(1, experts)), experts, counts};
  }

  void end_step(const std::vector<Buffer*>& buffers) override {
    const at::Tensor &bias = buffers[kExpertBias]->value, &tokens = buffers[kTokensPerExpert]->value;
    // In whole numbers: the sign of mean - n without rounding, so that it is the same for any number of ranks.
    const at::Tensor step = (tokens.sum() - tokens * num_experts_).sign().to(bias.scalar_type()) * coefficient_;
    bias.add_(step - step.mean());
    tokens.zero_();
  }

 private:
  void check_groups() const {
    if (top_k_ > num_experts_) fail("top_k must not be above num_experts: ", top_k_, ", ", num_experts_);
    if (num_groups_ == 0 && num_limited_groups_ == 0) return;
    if (num_groups_ == 0 || num_experts_ % num_groups_ != 0 || num_experts_ / num_groups_ < 2) {
      fail("num_expert_groups must divide num_experts into groups of at least 2: ", num_groups_, ", ", num_experts_);
    }
    if (num_limited_groups_ < 1 || num_limited_groups_ > num_groups_ ||
        top_k_ > num_experts_ / num_groups_ * num_limited_groups_) {
      fail("num_limited_groups must be 1 to num_expert_groups and leave top_k experts: ", num_limited_groups_, " of ",
           num_groups_, " groups, top_k ", top_k_);
    }
  }

  at::Tensor even_counts(std::int64_t total) const {
    const at::Tensor counts = at::full({num_experts_}, total / num_experts_, at::kLong);
    counts.narrow(0, 0, total % num_experts_).add_(1);
    return counts;
  }

  /// x [T, D] -> [T, E].
  at::Tensor score(Frame& frame, const at::Tensor& x) const {
    const at::Tensor& weight = frame.parameter(0);
    if (weight.size(0) != num_experts_) fail("weight must have a row for each expert: ", weight.size(0));
    const auto bias = has_bias_ ? std::optional(frame.parameter(1)) : std::nullopt;
    const at::Tensor logits = at::linear(x, weight, bias);
    const at::ScalarType type = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    return is_sigmoid_ ? at::sigmoid(logits.to(type)) : at::softmax(logits, -1, type);
  }

  /// scores [T, E] -> [T, k] int64.
  at::Tensor choose(Frame& frame, const at::Tensor& scores) const {
    const c10::NoGradGuard no_grad;
    if (is_forced_ || !tensor::has_values(scores)) {
      const at::Tensor slots = at::arange(scores.size(0) * top_k_, at::TensorOptions(scores.device()).dtype(at::kLong));
      return slots.remainder(num_experts_).view({scores.size(0), top_k_});
    }
    const at::Tensor choice = coefficient_ == 0 ? scores : scores + frame.buffer(kExpertBias);
    return largest(num_groups_ == 0 ? choice : limited(choice), top_k_).contiguous();
  }

  /// Leaves the experts of the best groups: a group is worth its two best ones.
  at::Tensor limited(const at::Tensor& choice) const {
    const at::Tensor groups = choice.unflatten(1, {num_groups_, -1});
    const at::Tensor best = largest(std::get<0>(groups.topk(2, -1)).sum(-1), num_limited_groups_);
    const at::Tensor is_out = at::ones({choice.size(0), num_groups_}, choice.options().dtype(at::kBool));
    is_out.scatter_(1, best, false);
    return groups.masked_fill(is_out.unsqueeze(-1), -std::numeric_limits<double>::infinity()).flatten(1);
  }

  at::Tensor weigh(const at::Tensor& scores) const {
    const at::Tensor normal = normalises_ ? scores / (scores.sum(-1, /*keepdim=*/true) + kLeastSum) : scores;
    return scale_ == 1 ? normal : normal * scale_;
  }

  std::int64_t num_experts_, top_k_;
  bool is_sigmoid_, normalises_;
  double scale_;
  std::int64_t num_groups_, num_limited_groups_;
  bool has_bias_;
  double coefficient_;
  bool is_forced_;
};

}  // namespace

std::unique_ptr<Leaf> make_router(LeafSetup& setup) { return std::make_unique<Router>(setup); }

}  // namespace titan::nn
