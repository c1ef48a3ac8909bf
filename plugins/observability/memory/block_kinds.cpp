#include "plugins/observability/memory/block_kinds.hpp"

#include "titan/abi/control.h"
#include "titan/sdk/text.hpp"

namespace titan::observability {

std::string_view kind_name(BlockKind kind) {
  switch (kind) {
    case BlockKind::parameter:
      return "parameter";
    case BlockKind::gradient:
      return "gradient";
    case BlockKind::optimizer_state:
      return "optimizer_state";
    case BlockKind::activation:
      return "activation";
    case BlockKind::communication:
      return "communication";
    case BlockKind::buffer:
      return "buffer";
    case BlockKind::other:
      break;
  }
  return "other";
}

BlockKind kind_of_state(std::int32_t state) {
  switch (state) {
    case TITAN_STATE_PARAMETER:
    case TITAN_STATE_COMPUTE:
      return BlockKind::parameter;
    case TITAN_STATE_GRADIENT:
      return BlockKind::gradient;
    case TITAN_STATE_OPTIMIZER:
      return BlockKind::optimizer_state;
    case TITAN_STATE_BUFFER:
      return BlockKind::buffer;
    default:
      return BlockKind::other;
  }
}

BlockKind kind_by_place(const Place& place) {
  if (place.purpose == Purpose::communication) return BlockKind::communication;
  if (place.purpose == Purpose::optimizer_state) return BlockKind::optimizer_state;
  switch (place.phase) {
    case TITAN_IN_FORWARD:
    case TITAN_IN_BACKWARD:
    case TITAN_IN_VALIDATION:
    case TITAN_IN_REPLAY:
      return BlockKind::activation;
    case TITAN_IN_INIT:
      return BlockKind::parameter;
    default:
      return BlockKind::other;
  }
}

std::string StateBlock::text() const {
  return num_tensors > 1 ? sdk::concat(name, " and ", num_tensors - 1, " more") : name;
}

void StateBlocks::add(std::uint64_t address, std::uint64_t bytes, BlockKind kind, std::string_view name) {
  if (address == 0 || bytes == 0) return;
  StateBlock& block = blocks_[address];
  if (block.num_tensors == 0) {
    block.kind = kind;
    block.name = name;
    block.bytes = bytes;
  }
  if (block.kind == kind) ++block.num_tensors;
}

const StateBlock* StateBlocks::find(std::uint64_t address) const {
  const auto found = blocks_.find(address);
  return found != blocks_.end() ? &found->second : nullptr;
}

}  // namespace titan::observability
