#include "core/app/rehearse/fit_changes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/text.hpp"

namespace titan::app {
namespace {

using config::Axis;

constexpr const char* kRecomputation = "activation_checkpoint.mode";
constexpr const char* kMicroBatch = "training.num_tokens_per_microbatch_per_dp_rank";
constexpr const char* kStep = "training.num_tokens_per_train_step";
constexpr const char* kGroup = "parallelism.num_pp_microbatches";
constexpr std::int64_t kMostTensorRanks = 8;  // a node's
constexpr std::int64_t kMostFactor = 8;

/// The run as it is.
struct Now {
  const config::Config& config;
  const config::Mesh& mesh;
  const config::Sizes& sizes;

  std::int64_t data_ranks() const { return mesh.degree(Axis::dp_replicate) * mesh.degree(Axis::dp_shard); }
  std::int64_t tokens() const { return sizes.tokens_per_step() * data_ranks(); }
  bool has_tokens_given() const { return config.integer(kStep) != -1; }
};

void add_recomputation(const Now& now, std::vector<FitChange>& changes) {
  constexpr std::array<std::string_view, 3> kModes{"none", "selective", "full"};
  if (!now.config.entries().contains(kRecomputation)) return;
  const std::string& mode = now.config.string(kRecomputation);
  const auto here = std::ranges::find(kModes, mode);
  if (here == kModes.end()) return;
  for (auto more = here + 1; more != kModes.end(); ++more) {
    changes.push_back({"recomputation",
                       concat("activation checkpointing ", mode, " -> ", *more),
                       {{kRecomputation, std::string(*more)}}});
  }
}

/// As many tokens a step in more micro-batches.
void add_micro_batches(const Now& now, std::vector<FitChange>& changes) {
  const std::int64_t rows = now.sizes.rows;
  for (std::int64_t fewer = rows / 2; fewer >= 1; fewer /= 2) {
    if (rows % fewer != 0) continue;
    FitChange change{"micro-batch",
                     concat("rows of a micro-batch ", rows, " -> ", fewer),
                     {{kMicroBatch, concat(fewer * now.sizes.length)}}};
    if (now.mesh.degree(Axis::pp) > 1) {
      change.options.push_back({kGroup, concat(now.sizes.group * (rows / fewer))});
    } else if (!now.has_tokens_given()) {
      change.options.push_back({kStep, concat(now.tokens())});
    }
    changes.push_back(std::move(change));
  }
}

std::string option_of(Axis axis) { return std::string(config::degree_option(axis)); }

/// Replicas become shards: as many data-parallel ranks.
void add_sharding(const Now& now, std::vector<FitChange>& changes) {
  const std::int64_t replicas = now.mesh.degree(Axis::dp_replicate), shards = now.mesh.degree(Axis::dp_shard);
  if (replicas == 1) return;
  changes.push_back({"degree",
                     concat("dp_replicate ", replicas, " -> 1, dp_shard ", shards, " -> ", shards * replicas),
                     {{option_of(Axis::dp_replicate), "1"}, {option_of(Axis::dp_shard), concat(shards * replicas)}}});
}

/// Keeps the tokens of a step with fewer data-parallel ranks; false where they do not divide.
bool keep_tokens(const Now& now, std::int64_t factor, std::int64_t group, std::vector<FitOption>& options) {
  const std::int64_t data_ranks = now.data_ranks() / factor;
  if (now.tokens() % (now.sizes.rows * now.sizes.length * data_ranks * group) != 0) return false;
  if (group != now.sizes.group) options.push_back({kGroup, concat(group)});
  if (!now.has_tokens_given()) options.push_back({kStep, concat(now.tokens())});
  return true;
}

/// More ranks along an axis, taken from dp_shard.
void add_degree(const Now& now, Axis axis, std::int64_t most, std::vector<FitChange>& changes) {
  const std::int64_t degree = now.mesh.degree(axis), shards = now.mesh.degree(Axis::dp_shard);
  for (std::int64_t factor = 2; factor <= kMostFactor && degree * factor <= most; factor *= 2) {
    if (shards % factor != 0) return;
    const std::int64_t more = degree * factor;
    std::int64_t group = now.sizes.group;
    if (axis == Axis::pp && degree == 1) group = std::max(now.config.integer(kGroup), more);
    if (axis == Axis::pp) group = std::max(group, more);
    FitChange change{"degree",
                     concat(name(axis), ' ', degree, " -> ", more, ", dp_shard ", shards, " -> ", shards / factor),
                     {{option_of(axis), concat(more)}, {option_of(Axis::dp_shard), concat(shards / factor)}}};
    if (keep_tokens(now, factor, group, change.options)) changes.push_back(std::move(change));
  }
}

}  // namespace

std::vector<std::string> words_of(const std::vector<FitChange>& changes) {
  std::vector<std::string> words;
  for (const FitChange& change : changes) {
    for (const FitOption& option : change.options) words.push_back(concat("--", option.name, "=", option.value));
  }
  return words;
}

std::string change_text(const std::vector<FitChange>& changes) {
  std::string text;
  for (const FitChange& change : changes) text += concat(text.empty() ? "" : "; ", change.text);
  return text;
}

std::vector<FitChange> fit_changes(const config::Config& config, const config::Mesh& mesh, const config::Sizes& sizes) {
  const Now now{config, mesh, sizes};
  std::vector<FitChange> changes;
  add_recomputation(now, changes);
  add_micro_batches(now, changes);
  add_sharding(now, changes);
  add_degree(now, Axis::tp, kMostTensorRanks, changes);
  add_degree(now, Axis::cp, mesh.world_size(), changes);
  add_degree(now, Axis::pp, mesh.world_size(), changes);
  return changes;
}

}  // namespace titan::app
