#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/box.hpp"

namespace titan::checkpoint {

/// Cuts a box into boxes of `most` elements at most, and of one at least, which follow each other in its order. A box
/// without elements has none.
std::vector<Box> pieces_of(const Box& box, std::uint64_t most);

/// Calls `take(batch, bytes)` with one batch after the other of items that follow each other: as many as have `most`
/// bytes together, one at least. `size_of(item)` says the bytes of one.
template <class Item, class SizeOf, class Take>
void in_batches(const std::vector<Item>& all, std::uint64_t most, const SizeOf& size_of, const Take& take) {
  std::span<const Item> items = all;
  while (!items.empty()) {
    std::uint64_t bytes = size_of(items.front());
    std::size_t count = 1;
    for (; count < items.size() && bytes + size_of(items[count]) <= most; ++count) bytes += size_of(items[count]);
    take(items.first(count), bytes);
    items = items.subspan(count);
  }
}

}  // namespace titan::checkpoint
