#include "plugins/observability/memory/fit_estimate.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/observability/memory/shortage.hpp"
#include "titan/abi/place.h"
#include "titan/sdk/text.hpp"

namespace titan::observability {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;
/// A block's input, which recomputation keeps, over all of its activations: of a llama's block about that.
constexpr double kInputShare = 1.0 / 12;
/// What operators take beside their results, and what comes in the rest of the step, is not seen.
constexpr double kUnseen = 1.25;
/// A little more than was seen to be too little, or is estimated; and a little less of what grows with it.
constexpr double kMargin = 1.02, kTokenMargin = 0.9;
constexpr std::uint32_t kMostRanks = 4096;

/// The need of a whole step.
struct Need {
  double state = 0;
  double activations = 0;
  double fixed = 0;  // of these, what does not shrink with the tokens
  bool knows_activations = false;
  double all() const { return state + activations; }
};

/// Adam has a gradient and two moments for each parameter.
Need need_of(const FitFacts& facts) {
  const auto parameters = static_cast<double>(facts.parameters);
  Need need;
  need.state = parameters + std::max(static_cast<double>(facts.gradients), parameters) +
               std::max(static_cast<double>(facts.optimizer_state), 2 * parameters) +
               static_cast<double>(facts.compute_forms + facts.buffers);
  const bool is_in_pass = facts.phase == TITAN_IN_FORWARD || facts.phase == TITAN_IN_BACKWARD ||
                          facts.phase == TITAN_IN_VALIDATION || facts.phase == TITAN_IN_REPLAY;
  need.knows_activations = is_in_pass;
  if (is_in_pass) {
    const double seen = static_cast<double>(facts.rest) / (facts.share > 0 ? facts.share : 1);
    need.activations = seen * kUnseen + 2 * static_cast<double>(facts.asked);
    // What backward asks for may be the gradient of a weight.
    if (facts.phase == TITAN_IN_BACKWARD && facts.asked <= facts.parameters) {
      need.fixed = static_cast<double>(facts.asked);
    }
  }
  return need;
}

std::string text_of(double bytes) { return bytes_text(static_cast<std::uint64_t>(std::max(bytes, 0.0))); }

/// Rounded up to three digits.
std::string gib_text(double bytes) {
  const double gib = bytes / kGiB;
  const double unit = std::pow(10.0, std::floor(std::log10(gib)) - 2);
  return sdk::concat(std::round(std::ceil(gib / unit) * unit * 1e6) / 1e6);
}

void add_smaller_batch(std::vector<std::string>& lines, const FitFacts& facts, const Need& need) {
  if (!need.knows_activations || facts.tokens <= 0) return;
  const double left = static_cast<double>(facts.allowed) - need.state - need.fixed;
  if (left <= 0) return;
  const double share = left / (need.activations - need.fixed) * kTokenMargin;
  const auto tokens = static_cast<std::int64_t>(static_cast<double>(facts.tokens) * share);
  if (tokens >= facts.tokens) return;
  const std::int64_t whole_rows = facts.row > 0 ? tokens / facts.row * facts.row : tokens;
  if (whole_rows > 0) {
    lines.push_back(
        sdk::concat("  --training.num_tokens_per_microbatch_per_dp_rank ", whole_rows, " (now ", facts.tokens, ")"));
  } else if (const std::int64_t row = tokens / 8 * 8; row > 0) {
    lines.push_back(sdk::concat("  --training.num_tokens_per_microbatch_per_dp_rank ", row,
                                " --training.max_context_length ", row, " (now ", facts.tokens, " and ", facts.row,
                                ")"));
  }
}

void add_recomputation(std::vector<std::string>& lines, const FitFacts& facts, const Need& need) {
  if (facts.recomputes_all || !need.knows_activations || facts.num_blocks < 2) return;
  const double kept = need.activations * (1.0 / facts.num_blocks + kInputShare);
  if (need.state + need.fixed + kept > static_cast<double>(facts.allowed)) return;
  lines.push_back(sdk::concat("  --activation_checkpoint.mode full (activations about ", text_of(kept), ")"));
}

void add_ranks(std::vector<std::string>& lines, const FitFacts& facts, const Need& need) {
  const double left = static_cast<double>(facts.allowed) - need.activations;
  if (left <= 0) return;
  const double factor = std::ceil(need.state / left);
  const double ranks = factor * facts.world_size;
  if (factor < 2 || ranks > kMostRanks) return;
  lines.push_back(sdk::concat("  ", static_cast<std::int64_t>(ranks), " ranks (now ", facts.world_size,
                              ") that share the weights (FSDP), each with as much memory"));
}

std::string need_line(const Need& need) {
  return sdk::concat("parameters, gradients and optimizer state of this rank need about ", text_of(need.state),
                     need.knows_activations
                         ? sdk::concat(", the activations of a step about ", text_of(need.activations), " more")
                         : std::string(", the activations of a step come on top"),
                     " (estimates)");
}

}  // namespace

std::vector<std::string> fit_lines(const FitFacts& facts) {
  const Need need = need_of(facts);
  std::vector<std::string> lines{need_line(need)};
  std::vector<std::string> ways;
  const double wanted = kMargin * std::max(need.all(), static_cast<double>(facts.live + facts.asked));
  if (facts.has_limit) {
    ways.push_back(sdk::concat("  --debug.memory_limit_gib ", gib_text(wanted),
                               need.knows_activations ? "" : ", or more for activations"));
  } else {
    ways.push_back(sdk::concat("  a machine that gives this rank ", text_of(wanted),
                               need.knows_activations ? "" : ", or more for activations"));
  }
  add_smaller_batch(ways, facts, need);
  add_recomputation(ways, facts, need);
  add_ranks(ways, facts, need);
  lines.emplace_back("what would have fitted, each by itself (estimates):");
  lines.insert(lines.end(), ways.begin(), ways.end());
  return lines;
}

}  // namespace titan::observability
