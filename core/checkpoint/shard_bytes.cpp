#include "core/checkpoint/shard_bytes.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/error.hpp"

namespace titan::checkpoint {

namespace {

std::uint64_t num_bytes(const ShardLayout::Item& item) {
  return static_cast<std::uint64_t>(num_elements(item.part.box.size)) * element_size(item.dtype);
}

/// Copies bytes `first` .. `first + out.size()` of the item as it is in the file.
void copy_item(const ShardLayout::Item& item, std::uint64_t first, std::span<std::byte> out) {
  const DType held = item.part.tensor.dtype;
  if (held == item.dtype) {
    std::memcpy(out.data(), item.part.data + first, out.size());
    return;
  }
  const std::uint64_t size = element_size(item.dtype);
  TITAN_CHECK(first % size == 0 && out.size() % size == 0, "an element cut in two: ", item.part.tensor.name);
  const std::uint64_t held_size = element_size(held);
  convert({item.part.data + first / size * held_size, out.size() / size * held_size}, held, out, item.dtype);
}

}  // namespace

void copy_shard_bytes(const ShardLayout& layout, std::uint64_t begin, std::span<std::byte> out) {
  const std::uint64_t end = begin + out.size();
  TITAN_CHECK(end <= layout.size, "beyond the shard: ", end, " of ", layout.size);
  std::uint64_t at = begin;
  if (at < layout.header.size()) {
    const std::uint64_t size = std::min<std::uint64_t>(end, layout.header.size()) - at;
    std::memcpy(out.data(), layout.header.data() + at, size);
    at += size;
  }
  // The last item that begins at `at` or before.
  auto item = std::upper_bound(layout.items.begin(), layout.items.end(), at,
                               [](std::uint64_t position, const auto& other) { return position < other.begin; });
  if (item != layout.items.begin()) --item;
  for (; at < end; ++item) {
    TITAN_CHECK(item != layout.items.end() && item->begin <= at, "a gap in the shard at ", at);
    const std::uint64_t size = std::min(end, item->begin + num_bytes(*item)) - at;
    copy_item(*item, at - item->begin, out.subspan(at - begin, size));
    at += size;
  }
}

}  // namespace titan::checkpoint
