#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "plugins/observability/memory/place_table.hpp"

namespace titan::observability {

/// What a block is for.
enum class BlockKind { parameter, gradient, optimizer_state, activation, communication, buffer, other };
inline constexpr std::array kBlockKinds{BlockKind::parameter,  BlockKind::gradient,      BlockKind::optimizer_state,
                                        BlockKind::activation, BlockKind::communication, BlockKind::buffer,
                                        BlockKind::other};

/// "parameter", "optimizer_state".
std::string_view kind_name(BlockKind kind);
/// Kind of a TITAN_STATE_* tensor.
BlockKind kind_of_state(std::int32_t state);
/// What a block is for, as far as the place where it was made tells: what forward and backward make and nobody keeps
/// from step to step are activations; what the begin of a run makes are parameters.
BlockKind kind_by_place(const Place& place);

/// A block that the run keeps from step to step.
struct StateBlock {
  BlockKind kind = BlockKind::other;
  std::string name;  // of the first tensor in it: "layers.0.attention.wq.weight.exp_avg"
  std::uint32_t num_tensors = 0;
  std::uint64_t bytes = 0;

  /// The name, and how many more there are: "layers.0.attention.wq.weight and 8 more".
  std::string text() const;
};

/// What the run keeps from step to step, by address.
class StateBlocks {
 public:
  /// Adds a tensor in the block at `address`. Of tensors of two kinds in one block the first counts.
  void add(std::uint64_t address, std::uint64_t bytes, BlockKind kind, std::string_view name);
  const StateBlock* find(std::uint64_t address) const;
  const std::unordered_map<std::uint64_t, StateBlock>& all() const { return blocks_; }

 private:
  std::unordered_map<std::uint64_t, StateBlock> blocks_;
};

}  // namespace titan::observability
