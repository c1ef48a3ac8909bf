#include "core/checkpoint/index_check.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

#include "core/base/error.hpp"
#include "core/checkpoint/block_hashes.hpp"
#include "core/checkpoint/tiling.hpp"

namespace titan::checkpoint {

namespace {

template <class... Parts>
[[noreturn]] void fail(const std::string& source, const std::string& name, const Parts&... why) {
  throw DataError("[checkpoint] ", printable(source), ": ", printable(shortened(name, 200)), ": ", why...);
}

/// The bytes of one part.
struct Extent {
  std::uint32_t file;
  std::uint64_t begin, end;
  const std::string* tensor;
};

void check_files(const Index& index, const std::string& source) {
  constexpr std::uint64_t kSmallestBlock = std::uint64_t{1} << 20U;
  std::set<std::string> names;
  for (const StoredFile& file : index.files) {
    const std::string name = file.path.string();
    if (!names.insert(name).second) fail(source, name, "a file is there twice");
    if (file.block_size < kSmallestBlock || !std::has_single_bit(file.block_size)) {
      fail(source, name, "block size is no power of two from 1 MiB on: ", file.block_size);
    }
    // A reader holds a block in memory.
    if (file.block_size > block_size_for(file.size)) {
      fail(source, name, "block size is larger than a file of ", file.size, " bytes needs: ", file.block_size);
    }
    const std::uint64_t blocks = num_blocks(file.size, file.block_size);
    if (file.block_hashes.size() != blocks) {
      fail(source, name, "not one hash for each block: ", file.block_hashes.size(), " hashes, ", blocks, " blocks");
    }
  }
}

Extent extent_of(const StoredPart& part, const std::string& name, const StoredTensor& tensor, const Index& index,
                 const std::string& source) {
  if (part.file >= index.files.size()) fail(source, name, "a part is in a file that is not listed: ", part.file);
  const StoredFile& file = index.files[part.file];
  const std::uint64_t elements = static_cast<std::uint64_t>(num_elements(part.box.size));
  const std::size_t each = element_size(tensor.dtype);
  if (part.begin > file.size || elements > (file.size - part.begin) / each) {
    fail(source, name, "a part does not lie in its file: ", printable(file.path.native()), ": ", elements,
         " elements of ", each, " bytes at ", part.begin, ", file of ", file.size);
  }
  return {part.file, part.begin, part.begin + elements * each, &name};
}

void check_extents(std::vector<Extent>& extents, const Index& index, const std::string& source) {
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return std::tie(a.file, a.begin) < std::tie(b.file, b.begin); });
  for (std::size_t i = 1; i < extents.size(); ++i) {
    const Extent &before = extents[i - 1], &here = extents[i];
    if (before.file != here.file || before.end <= here.begin) continue;
    fail(source, *here.tensor, "shares bytes with ", printable(shortened(*before.tensor, 200)), ": ",
         printable(index.files[here.file].path.native()), ", at ", here.begin);
  }
}

}  // namespace

void check_index(Index& index, const std::string& source) {
  check_files(index, source);
  std::vector<Extent> extents;
  for (auto& [name, tensor] : index.tensors) {
    if (const std::string fault = tiling_fault(tensor.shape, tensor.parts); !fault.empty()) {
      fail(source, name, fault);
    }
    for (const StoredPart& part : tensor.parts) extents.push_back(extent_of(part, name, tensor, index, source));
    std::sort(tensor.parts.begin(), tensor.parts.end(),
              [](const StoredPart& a, const StoredPart& b) { return a.box.offset < b.box.offset; });
  }
  check_extents(extents, index, source);
}

}  // namespace titan::checkpoint
