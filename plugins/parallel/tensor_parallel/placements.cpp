#include "plugins/parallel/tensor_parallel/placements.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "plugins/parallel/chunk.hpp"
#include "plugins/parallel/tensor_parallel/limits.hpp"

namespace titan::parallel {
namespace {

/// What a split means.
struct Rule {
  std::int32_t split;
  std::string_view name;
  std::string_view kind;                           // of modules that may have it; empty: any
  std::optional<std::int64_t> dim = std::nullopt;  // that is cut
};

constexpr std::array kRules = {
    Rule{TITAN_SPLIT_REPLICATE, "replicate", ""},
    Rule{TITAN_SPLIT_SEQUENCE, "sequence", ""},
    Rule{TITAN_SPLIT_HEADS, "heads", ""},
    Rule{TITAN_SPLIT_COLUMN, "column", "titan.linear", 0},
    Rule{TITAN_SPLIT_ROW, "row", "titan.linear", 1},
    Rule{TITAN_SPLIT_VOCAB, "vocab", "titan.linear", 0},
    Rule{TITAN_SPLIT_VOCAB, "vocab", "titan.embedding", 0},
    Rule{TITAN_SPLIT_EXPERT_COLUMN, "expert column", "titan.grouped_experts", 1},
    Rule{TITAN_SPLIT_EXPERT_ROW, "expert row", "titan.grouped_experts", 2},
};

const Rule& rule_of(const strategy::Module& module, const strategy::Parameter& parameter) {
  const std::int32_t split = parameter.split();
  std::string_view name = "unknown";
  for (const Rule& rule : kRules) {
    if (rule.split != split) continue;
    if (rule.kind.empty() || rule.kind == module.kind()) return rule;
    name = rule.name;
  }
  throw sdk::ConfigError(
      "[tensor_parallel] a parameter cannot be split in this way in a module of this kind: ", parameter.name(),
      ", split ", name, ", kind ", module.kind(), ": --parallelism.tensor_parallel_degree 1");
}

void cut(const strategy::Parameter& parameter, const Rule& rule, const TensorRank& rank) {
  const std::int64_t dim = *rule.dim, size = parameter.part().sizes[static_cast<std::size_t>(dim)];
  if (rule.split != TITAN_SPLIT_VOCAB) {
    require_divisible(size, rank.size, sdk::concat("dim ", dim, " of ", parameter.name()));
  }
  const Rows mine = chunk(size, rank.size, rank.rank);
  parameter.shard("tp", dim, mine.first, mine.count);
  parameter.declare_gradient("tp", strategy::Gradient::sharded);
}

/// Whether each rank has a summand of a replicated parameter's gradient: of its tokens, heads or features of experts.
bool is_partial(const strategy::Module& module, const Rule& rule, const TensorRank& rank, const Mixtures& mixtures) {
  return rank.splits_sequence || rule.split == TITAN_SPLIT_HEADS || mixtures.contains(module);
}

}  // namespace

TensorPlacements place_parameters(const strategy::Tree& tree, const TensorRank& rank, const Mixtures& mixtures,
                                  const std::set<std::string>& expert_parameters) {
  TensorPlacements placed;
  for (const strategy::Module& module : tree.modules()) {
    for (const strategy::Parameter& parameter : module.parameters()) {
      if (expert_parameters.contains(parameter.name())) continue;
      const Rule& rule = rule_of(module, parameter);
      if (rule.dim) {
        cut(parameter, rule, rank);
        ++placed.num_split;
      } else if (is_partial(module, rule, rank, mixtures)) {
        parameter.declare_gradient("tp", strategy::Gradient::partial);
        placed.partial.push_back(parameter);
      }
    }
  }
  return placed;
}

}  // namespace titan::parallel
