#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.hpp"
#include "core/checkpoint/aligned_memory.hpp"
#include "core/checkpoint/safetensors.hpp"
#include "core/checkpoint/shard.hpp"

namespace titan::checkpoint {

namespace {

DType dtype_in_file(DType held, std::optional<DType> export_dtype) {
  return export_dtype && is_floating(held) ? *export_dtype : held;
}

/// What the header names, largest elements first, so that each begins at a multiple of its elements' size.
std::vector<ShardLayout::Item> ordered_items(std::span<const HeldPart> parts, std::optional<DType> export_dtype) {
  std::vector<ShardLayout::Item> items;
  for (const HeldPart& part : parts) {
    if (num_elements(part.box.size) == 0 && num_elements(part.tensor.shape) != 0) continue;
    items.push_back({part, dtype_in_file(part.tensor.dtype, export_dtype), 0});
  }
  std::sort(items.begin(), items.end(), [](const ShardLayout::Item& a, const ShardLayout::Item& b) {
    const std::size_t size_a = element_size(a.dtype), size_b = element_size(b.dtype);
    return size_a != size_b ? size_a > size_b : a.part.tensor.name < b.part.tensor.name;
  });
  return items;
}

std::string parts_text(const std::vector<ShardLayout::Item>& items) {
  nlohmann::json text = nlohmann::json::object();
  for (const ShardLayout::Item& item : items) {
    const bool is_new = text.emplace(item.part.tensor.name, nlohmann::json{{"shape", item.part.tensor.shape},
                                                                           {"offset", item.part.box.offset}})
                            .second;
    TITAN_CHECK(is_new, "two parts of one tensor in a shard: ", item.part.tensor.name);
  }
  return text.dump();
}

}  // namespace

ShardLayout lay_out_shard(std::span<const HeldPart> parts, const std::string& save_id,
                          std::optional<DType> export_dtype) {
  ShardLayout layout;
  layout.items = ordered_items(parts, export_dtype);
  std::vector<SafetensorsEntry> entries;
  for (const ShardLayout::Item& item : layout.items) {
    entries.push_back({{item.part.tensor.name, item.dtype, item.part.box.size}, 0, 0});
  }
  layout.header = write_safetensors_header(
      entries, {{"format", "titan"}, {"save_id", save_id}, {"parts", parts_text(layout.items)}}, kDirectAlignment);
  layout.size = layout.header.size();
  for (std::size_t i = 0; i < entries.size(); ++i) layout.items[i].begin = entries[i].begin;
  if (!entries.empty()) layout.size = entries.back().end;
  std::erase_if(layout.items, [](const ShardLayout::Item& item) { return num_elements(item.part.box.size) == 0; });
  return layout;
}

std::string shard_name(std::int64_t rank, std::int64_t world_size) {
  char name[96];
  std::snprintf(name, sizeof name, "shard-%05lld-of-%05lld.safetensors", static_cast<long long>(rank),
                static_cast<long long>(world_size));
  return name;
}

std::uint64_t block_size_for(std::uint64_t file_size) {
  constexpr std::uint64_t kSmallest = std::uint64_t{1} << 20U;
  constexpr std::uint64_t kMostBlocks = 1024;
  std::uint64_t size = kSmallest;
  while (file_size / kMostBlocks >= size && file_size > size * kMostBlocks) size *= 2;
  return size;
}

}  // namespace titan::checkpoint
