#include "core/train/ranks/replicas.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "core/tensor/values.hpp"
#include "core/train/ranks/agreement.hpp"

namespace titan::train {
namespace {

using config::Axis;

std::int64_t hash_of(const at::Tensor& tensor) {
  if (!tensor::has_values(tensor)) return 0;
  const at::Tensor plain = tensor.detach().contiguous();
  const std::string_view bytes(static_cast<const char*>(plain.const_data_ptr()), plain.nbytes());
  return std::bit_cast<std::int64_t>(hash64(bytes, static_cast<std::uint64_t>(plain.numel())));
}

/// What ranks with the same part of a parameter have in common: where they stand on the axes it is sharded along.
std::vector<std::int64_t> place(const nn::Parameter& parameter, const config::Mesh& mesh, std::int64_t rank) {
  std::vector<std::int64_t> coordinates;
  for (const Axis axis : config::kAxes) {
    if (!parameter.placements[static_cast<std::size_t>(axis)].shard_dim) continue;
    coordinates.push_back(mesh.coordinate(rank, axis));
  }
  return coordinates;
}

/// The first parameter whose replicas differ.
struct Difference {
  std::string parameter;
  std::string ranks;       // "ranks 0, 1 | rank 2"
  std::size_t others = 0;  // more parameters
};

/// "layers.0.wq.weight and 3 more, equal among ranks 0, 1 | rank 2"
std::string text_of(const Difference& difference) {
  return concat(difference.parameter, difference.others == 0 ? "" : concat(" and ", difference.others, " more"),
                ", equal among ", difference.ranks);
}

std::string describe(const std::map<std::int64_t, std::vector<std::int64_t>>& ranks_by_hash) {
  std::vector<std::vector<std::int64_t>> sides;
  for (const auto& [hash, ranks] : ranks_by_hash) sides.push_back(ranks);
  std::sort(sides.begin(), sides.end());
  std::vector<std::string> texts;
  for (const auto& ranks : sides) texts.push_back(list_ranks(ranks));
  return join(texts, " | ");
}

/// hashes[i * parameters + j] of member i's parameter j, the same on all members: so is the answer.
std::optional<Difference> find_difference(const nn::Tree& tree, const config::Mesh& mesh,
                                          const std::vector<std::int64_t>& members,
                                          const std::vector<std::int64_t>& hashes) {
  const std::size_t count = tree.parameters().size();
  std::optional<Difference> first;
  for (std::size_t i = 0; i < count; ++i) {
    const nn::Parameter& parameter = *tree.parameters()[i];
    std::map<std::vector<std::int64_t>, std::map<std::int64_t, std::vector<std::int64_t>>> replicas;
    for (std::size_t member = 0; member < members.size(); ++member) {
      const std::int64_t hash = hashes[member * count + i];
      replicas[place(parameter, mesh, members[member])][hash].push_back(members[member]);
    }
    const auto differing =
        std::find_if(replicas.begin(), replicas.end(), [](const auto& replica) { return replica.second.size() > 1; });
    if (differing == replicas.end()) continue;
    if (first) {
      ++first->others;
    } else {
      first = Difference{parameter.name, describe(differing->second)};
    }
  }
  return first;
}

std::optional<Difference> compare(const nn::Tree& tree, const Ranks& ranks, at::Tensor nn::Parameter::*box) {
  // Tensors of their own: when the wait fails, the call may still write into them.
  const auto count = static_cast<std::int64_t>(tree.parameters().size());
  const at::Tensor mine = at::empty({count}, at::kLong);
  // Ranks of other pipeline stages have other parameters.
  comm::Group& stage = ranks.communicator().group("stage");
  const at::Tensor all = at::empty({count * stage.size()}, at::kLong);
  auto* hash = mine.data_ptr<std::int64_t>();
  for (const auto& parameter : tree.parameters()) *hash++ = hash_of((*parameter).*box);
  stage.all_gather(all, mine)->wait();
  const auto* first = all.data_ptr<std::int64_t>();
  return find_difference(tree, ranks.mesh(), stage.members(), {first, first + all.numel()});
}

}  // namespace

bool has_replicas(const nn::Tree& tree, const Ranks& ranks) {
  if (ranks.alone()) return false;
  std::vector<std::int64_t> members;
  for (const std::int64_t rank : ranks.communicator().group("stage").members()) members.push_back(rank);
  return std::any_of(tree.parameters().begin(), tree.parameters().end(), [&](const auto& parameter) {
    std::set<std::vector<std::int64_t>> places;
    for (const std::int64_t rank : members) places.insert(place(*parameter, ranks.mesh(), rank));
    return places.size() < members.size();
  });
}

void compare_weights(const nn::Tree& tree, Ranks& ranks) {
  if (ranks.alone()) return;
  const auto difference = compare(tree, ranks, &nn::Parameter::storage);
  if (!difference) return;
  ranks.part();
  throw InternalError("[train] ranks start with different bits of a parameter that they share: ", text_of(*difference),
                      ": are program, libtorch and processor the same everywhere?");
}

void check_drift(const nn::Tree& tree, Ranks& ranks, std::int64_t step) {
  if (ranks.alone()) return;
  const auto difference = compare(tree, ranks, &nn::Parameter::storage);
  if (!difference) return;
  ranks.part();
  throw InternalError("[train] weights that ranks share have drifted apart: step ", step, ", ", text_of(*difference),
                      ", found after the step's update, so that its figures are not told: a rank computes or remembers "
                      "wrongly (suspect its hardware, or a strategy that does not treat "
                      "replicas alike): go on from a checkpoint of an earlier step");
}

void audit_gradients(const nn::Tree& tree, Ranks& ranks, std::int64_t step) {
  if (ranks.alone()) return;
  const auto difference = compare(tree, ranks, &nn::Parameter::gradient);
  if (!difference) return;
  ranks.part();
  throw PluginError(
      "[train] ranks have different bits of a gradient that they share, stopped before the update, weights are "
      "unchanged: step ",
      step, ", ", text_of(*difference), ": a strategy did not sum it on all of them, or a rank computes wrongly");
}

}  // namespace titan::train
