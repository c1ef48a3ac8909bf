#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/config.hpp"

namespace titan::config {

/// The kinds of parallelism, outermost axis of the mesh first.
enum class Axis : std::size_t { pp, dp_replicate, dp_shard, cp, tp };
inline constexpr std::size_t kNumAxes = 5;
inline constexpr std::array kAxes = {Axis::pp, Axis::dp_replicate, Axis::dp_shard, Axis::cp, Axis::tp};

/// "pp", "dp_replicate", "dp_shard", "cp", "tp".
std::string_view name(Axis axis);

/// The option that sets the axis's degree: "parallelism.tensor_parallel_degree".
std::string_view degree_option(Axis axis);

/// A number of ranks for each axis, by Axis.
using Degrees = std::array<std::int64_t, kNumAxes>;

/// The layout of a run's ranks: a grid with one axis for each kind of parallelism. A rank's number is its row-major
/// index. Immutable.
class Mesh {
 public:
  /// One rank.
  Mesh() = default;
  /// dp_shard may be -1: what is left of the ranks. ConfigError, with the arithmetic, unless the degrees are positive
  /// and their product is the number of ranks.
  Mesh(const Degrees& degrees, std::int64_t world_size);
  /// The same with `expert_degree` ranks along "ep", which is folded into dp_shard x cp x tp: ConfigError unless it
  /// divides their product, and is 1 or a multiple of tp.
  Mesh(const Degrees& degrees, std::int64_t world_size, std::int64_t expert_degree);
  /// The layout that the options parallelism.*_degree ask for.
  static Mesh from(const Config& config, std::int64_t world_size);

  std::int64_t world_size() const { return world_size_; }
  std::int64_t degree(Axis axis) const { return degrees_[static_cast<std::size_t>(axis)]; }
  /// Ranks over which experts are spread.
  std::int64_t expert_degree() const { return expert_degree_; }
  /// Where the rank stands along the axis.
  std::int64_t coordinate(std::int64_t rank, Axis axis) const;

  /// The axes behind the name of a group: an axis's own name, or "dp" (dp_replicate, dp_shard), "fsdp" (dp_shard, cp),
  /// "loss" (dp_replicate, dp_shard, cp), "stage" (all but pp), "world" (all). "ep" and "efsdp" share dp_shard, cp and
  /// tp: ep are neighbours among them, efsdp those with the same experts. InternalError for another name.
  static std::vector<Axis> axes(std::string_view group);
  /// Ranks of the rank's group of that name, in order.
  std::vector<std::int64_t> members(std::string_view group, std::int64_t rank) const;

  /// The arithmetic: "pp 1 x dp_replicate 2 x dp_shard 2 x cp 1 x tp 1 = 4 ranks".
  std::string describe() const;

 private:
  std::vector<std::int64_t> expert_members(bool spreads_experts, std::int64_t rank) const;

  Degrees degrees_{1, 1, 1, 1, 1};
  std::int64_t world_size_ = 1;
  std::int64_t expert_degree_ = 1;
};

}  // namespace titan::config
