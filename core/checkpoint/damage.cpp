#include "core/checkpoint/damage.hpp"

#include <algorithm>

#include "core/base/hashing.hpp"
#include "core/base/listing.hpp"
#include "core/base/text.hpp"
#include "core/checkpoint/read_plan.hpp"

namespace titan::checkpoint {

namespace {

bool has_bytes_in(const Source& source, const std::string& name, const StoredTensor& tensor, std::uint32_t file,
                  const FileRange& range) {
  return std::ranges::any_of(tensor.parts, [&](const StoredPart& part) {
    if (part.file != file || part.begin >= range.end) return false;
    return part.begin + stored_bytes(source, name, tensor, part) > range.begin;
  });
}

}  // namespace

bool is_block_right(const StoredFile& file, std::uint64_t block, std::span<const std::byte> bytes) {
  return hash128({reinterpret_cast<const char*>(bytes.data()), bytes.size()}) == file.block_hashes.at(block);
}

std::string place_of(const Source& source, std::uint32_t file, const FileRange& range) {
  std::vector<std::string> names;
  std::size_t count = 0;
  for (const auto& [name, tensor] : source.tensors) {
    if (!has_bytes_in(source, name, tensor, file, range)) continue;
    if (++count <= kMostListed) names.push_back(name);
  }
  if (count == 0) return "in the header";
  return concat("in ", join_first(names, count));
}

}  // namespace titan::checkpoint
