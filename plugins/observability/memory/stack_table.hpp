#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace titan::observability {

/// Numbers for stacks of return addresses, innermost first; a stack that comes again has its number.
class StackTable {
 public:
  using Stack = std::vector<void*>;
  /// The number of the empty stack.
  static constexpr std::uint32_t kNone = 0;

  StackTable() { number({}); }
  std::uint32_t number(Stack stack);
  const Stack& operator[](std::uint32_t number) const { return *stacks_[number]; }
  std::size_t size() const { return stacks_.size(); }

 private:
  std::map<Stack, std::uint32_t> numbers_;
  std::vector<const Stack*> stacks_;  // keys of the map
};

}  // namespace titan::observability
