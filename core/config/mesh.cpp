#include "core/config/mesh.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace titan::config {
namespace {

std::int64_t& at(Degrees& degrees, Axis axis) { return degrees[static_cast<std::size_t>(axis)]; }

constexpr std::string_view kExpertOption = "parallelism.expert_parallel_degree";

std::string arithmetic(const Degrees& degrees) {
  std::string text;
  for (const Axis axis : kAxes) {
    const std::int64_t degree = degrees[static_cast<std::size_t>(axis)];
    text += concat(text.empty() ? "" : " x ", name(axis), ' ', degree);
  }
  return text;
}

void check_degrees(const Degrees& degrees) {
  for (const Axis axis : kAxes) {
    const std::int64_t degree = degrees[static_cast<std::size_t>(axis)];
    if (degree >= 1 || (axis == Axis::dp_shard && degree == -1)) continue;
    throw ConfigError("[mesh] ", degree_option(axis), " must be at least 1",
                      axis == Axis::dp_shard ? ", or -1 for what is left of the ranks" : "", ": ", degree);
  }
}

// The product of all degrees but an inferred one; stops growing past the number of ranks.
std::int64_t product(const Degrees& degrees, std::int64_t world_size) {
  std::int64_t ranks = 1;
  for (const std::int64_t degree : degrees) {
    if (degree == -1) continue;
    if (ranks > world_size / degree) return world_size + 1;
    ranks *= degree;
  }
  return ranks;
}

}  // namespace

std::string_view degree_option(Axis axis) {
  switch (axis) {
    case Axis::pp:
      return "parallelism.pipeline_parallel_degree";
    case Axis::dp_replicate:
      return "parallelism.data_parallel_replicate_degree";
    case Axis::dp_shard:
      return "parallelism.data_parallel_shard_degree";
    case Axis::cp:
      return "parallelism.context_parallel_degree";
    case Axis::tp:
      return "parallelism.tensor_parallel_degree";
  }
  return {};
}

std::string_view name(Axis axis) {
  switch (axis) {
    case Axis::pp:
      return "pp";
    case Axis::dp_replicate:
      return "dp_replicate";
    case Axis::dp_shard:
      return "dp_shard";
    case Axis::cp:
      return "cp";
    case Axis::tp:
      return "tp";
  }
  return {};
}

Mesh::Mesh(const Degrees& degrees, std::int64_t world_size) : degrees_(degrees), world_size_(world_size) {
  if (world_size < 1) throw ConfigError("[mesh] the number of ranks must be at least 1: ", world_size);
  check_degrees(degrees_);
  const std::int64_t ranks = product(degrees_, world_size);
  std::int64_t& shard = at(degrees_, Axis::dp_shard);
  if (shard == -1) {
    if (ranks > world_size || world_size % ranks != 0) {
      throw ConfigError("[mesh] the other degrees must divide the number of ranks: ", arithmetic(degrees),
                        ", world size ", world_size);
    }
    shard = world_size / ranks;
  } else if (ranks != world_size) {
    throw ConfigError("[mesh] the product of the degrees must be the number of ranks: ", arithmetic(degrees),
                      ", world size ", world_size, ": ", degree_option(Axis::dp_shard), " -1 takes what is left");
  }
}

Mesh::Mesh(const Degrees& degrees, std::int64_t world_size, std::int64_t expert_degree) : Mesh(degrees, world_size) {
  const std::int64_t tp = degree(Axis::tp), ranks = degree(Axis::dp_shard) * degree(Axis::cp) * tp;
  if (expert_degree < 1 || ranks % expert_degree != 0 || (expert_degree > 1 && expert_degree % tp != 0)) {
    throw ConfigError("[mesh] ", kExpertOption,
                      " must divide dp_shard x cp x tp, and be 1 or a multiple of tp: ", expert_degree, ", dp_shard ",
                      degree(Axis::dp_shard), " x cp ", degree(Axis::cp), " x tp ", tp, " = ", ranks);
  }
  expert_degree_ = expert_degree;
}

Mesh Mesh::from(const Config& config, std::int64_t world_size) {
  Degrees degrees{1, 1, 1, 1, 1};
  for (const Axis axis : kAxes) {
    const auto entry = config.entries().find(degree_option(axis));
    if (entry != config.entries().end()) at(degrees, axis) = config.integer(degree_option(axis));
  }
  const bool has_experts = config.entries().contains(kExpertOption);
  return {degrees, world_size, has_experts ? config.integer(kExpertOption) : 1};
}

std::int64_t Mesh::coordinate(std::int64_t rank, Axis axis) const {
  for (std::size_t inner = kNumAxes - 1; inner > static_cast<std::size_t>(axis); --inner) rank /= degrees_[inner];
  return rank % degree(axis);
}

std::vector<Axis> Mesh::axes(std::string_view group) {
  if (group == "world") return {kAxes.begin(), kAxes.end()};
  if (group == "dp") return {Axis::dp_replicate, Axis::dp_shard};
  if (group == "fsdp") return {Axis::dp_shard, Axis::cp};
  if (group == "loss") return {Axis::dp_replicate, Axis::dp_shard, Axis::cp};
  if (group == "stage") return {Axis::dp_replicate, Axis::dp_shard, Axis::cp, Axis::tp};
  if (group == "ep" || group == "efsdp") return {Axis::dp_shard, Axis::cp, Axis::tp};
  for (const Axis axis : kAxes) {
    if (name(axis) == group) return {axis};
  }
  throw InternalError("[mesh] no such axis or group: ", printable(group),
                      ": pp, dp_replicate, dp_shard, cp, tp, dp, fsdp, loss, stage, ep, efsdp, world");
}

std::vector<std::int64_t> Mesh::members(std::string_view group, std::int64_t rank) const {
  if (group == "ep" || group == "efsdp") return expert_members(group == "ep", rank);
  std::vector<std::int64_t> found{rank};
  std::int64_t stride = 1;
  const std::vector<Axis> wanted = axes(group);
  for (std::size_t i = kNumAxes; i-- > 0;) {
    const Axis axis = kAxes[i];
    if (std::find(wanted.begin(), wanted.end(), axis) != wanted.end()) {
      const std::int64_t here = coordinate(rank, axis);
      std::vector<std::int64_t> wider;
      for (std::int64_t there = 0; there < degree(axis); ++there) {
        for (const std::int64_t member : found) wider.push_back(member + (there - here) * stride);
      }
      found = std::move(wider);
    }
    stride *= degree(axis);
  }
  return found;
}

std::vector<std::int64_t> Mesh::expert_members(bool spreads_experts, std::int64_t rank) const {
  // dp_shard, cp and tp are the innermost axes: their ranks follow each other.
  const std::int64_t block = degree(Axis::dp_shard) * degree(Axis::cp) * degree(Axis::tp);
  const std::int64_t place = rank % block;
  const std::int64_t first = spreads_experts ? rank - place % expert_degree_ : rank - place + place % expert_degree_;
  const std::int64_t count = spreads_experts ? expert_degree_ : block / expert_degree_;
  std::vector<std::int64_t> found;
  for (std::int64_t i = 0; i < count; ++i) found.push_back(first + i * (spreads_experts ? 1 : expert_degree_));
  return found;
}

std::string Mesh::describe() const {
  return concat(arithmetic(degrees_), " = ", world_size_, world_size_ == 1 ? " rank" : " ranks",
                expert_degree_ == 1 ? std::string() : concat(", experts over ", expert_degree_));
}

}  // namespace titan::config
