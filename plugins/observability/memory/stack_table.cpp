#include "plugins/observability/memory/stack_table.hpp"

#include <utility>

namespace titan::observability {

std::uint32_t StackTable::number(Stack stack) {
  if (stack.empty() && !stacks_.empty()) return kNone;  // at once: the usual one
  const auto [entry, is_new] = numbers_.emplace(std::move(stack), static_cast<std::uint32_t>(stacks_.size()));
  if (is_new) stacks_.push_back(&entry->first);
  return entry->second;
}

}  // namespace titan::observability
