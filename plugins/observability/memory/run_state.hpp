#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/observability/memory/block_kinds.hpp"
#include "plugins/observability/memory/memory_watch.hpp"
#include "titan/sdk/guard.hpp"

namespace titan::observability {

/// What a rank's run keeps, as its control and tree tell it.
class RunState {
 public:
  /// Handles stay valid as long as the plugin's instance.
  explicit RunState(const sdk::GuardHandles& handles);

  /// The blocks of parameters, gradients, optimizer and buffers. On the rank's training thread. HostError.
  StateBlocks blocks() const;
  /// Bytes of this rank's parts of all parameters, whether they were made yet or not.
  std::uint64_t parameter_bytes() const;
  /// [any thread]
  titan_place place() const noexcept;
  /// Names of all modules, by number.
  ModuleNames module_names() const;
  std::uint32_t num_blocks() const { return static_cast<std::uint32_t>(chain_.size()); }
  /// Share of the chain up to and with the block that a module belongs to: 0 where it belongs to none.
  double share_through(std::string_view module) const;

 private:
  sdk::GuardHandles handles_;
  const titan_control_v1* control_;
  const titan_tree_v1* tree_;
  std::vector<std::string> chain_;  // names of its blocks
};

}  // namespace titan::observability
