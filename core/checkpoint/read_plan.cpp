#include "core/checkpoint/read_plan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/error.hpp"
#include "core/checkpoint/aligned_memory.hpp"
#include "core/checkpoint/block_hashes.hpp"

namespace titan::checkpoint {

namespace {

/// Reading on costs less than a read of its own.
constexpr std::uint64_t kNear = std::uint64_t{256} << 10U;

/// Bytes between which reads need not stop.
std::uint64_t gap_of(const StoredFile& file) { return file.block_size != 0 ? file.block_size : kNear; }

void check_file(const StoredFile& file) {
  if (file.block_size == 0) return;
  const std::uint64_t blocks = num_blocks(file.size, file.block_size);
  if (file.block_size % kDirectAlignment == 0 && file.block_hashes.size() == blocks) return;
  throw DataError("[checkpoint] hashes do not fit the file: ", printable(file.path.filename().native()), ": ",
                  file.block_hashes.size(), " blocks of ", file.block_size, " bytes, file has ", file.size);
}

/// Widens ranges to whole blocks, or pages where there are none, and joins those that are near.
std::vector<FileRange> joined(std::vector<FileRange> ranges, const StoredFile& file) {
  const std::uint64_t unit = file.block_size != 0 ? file.block_size : kDirectAlignment;
  const std::uint64_t near = file.block_size != 0 ? 0 : kNear;
  std::ranges::sort(ranges, {}, &FileRange::begin);
  std::vector<FileRange> out;
  for (const FileRange& range : ranges) {
    const std::uint64_t begin = range.begin / unit * unit;
    const std::uint64_t rest = range.end % unit == 0 ? 0 : unit - range.end % unit;
    const std::uint64_t end = rest < file.size - range.end ? range.end + rest : file.size;
    if (!out.empty() && begin <= out.back().end + near) {
      out.back().end = std::max(out.back().end, end);
    } else {
      out.push_back({begin, end});
    }
  }
  return out;
}

}  // namespace

std::uint64_t stored_bytes(const Source& source, const std::string& name, const StoredTensor& tensor,
                           const StoredPart& part) {
  if (part.file < source.files.size() && lies_in(part.box, tensor.shape)) {
    const auto elements = static_cast<std::uint64_t>(num_elements(part.box.size));
    const std::uint64_t size = source.files[part.file].size, element = element_size(tensor.dtype);
    if (part.begin <= size && elements <= (size - part.begin) / element) return elements * element;
  }
  throw DataError("[checkpoint] a part does not lie in its tensor or file: ", printable(source.folder.native()), ": ",
                  printable(name));
}

ReadPlan::ReadPlan(const Source& source, std::span<const WantedPart> wanted)
    : source_(source), wanted_(wanted), tensors_(wanted.size()), files_(source.files.size()) {
  constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max();
  TITAN_CHECK(wanted.size() < kMost, "too many wanted parts: ", wanted.size());
  for (const StoredFile& file : source.files) check_file(file);
  std::vector<std::vector<FileRange>> ranges(files_.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) add_wanted(static_cast<std::uint32_t>(i), ranges);
  for (std::size_t file = 0; file < files_.size(); ++file) {
    std::ranges::sort(files_[file].overlaps, {}, [](const Overlap& overlap) { return overlap.bytes.begin; });
    files_[file].ranges = joined(std::move(ranges[file]), source.files[file]);
    for (const FileRange& range : files_[file].ranges) total_ += range.end - range.begin;
  }
}

void ReadPlan::add_wanted(std::uint32_t index, std::vector<std::vector<FileRange>>& ranges) {
  const WantedPart& want = wanted_[index];
  const auto wanted_elements = static_cast<std::uint64_t>(num_elements(want.box.size));
  if (wanted_elements == 0) return;
  const std::string& name = want.tensor.name;
  const StoredTensor& tensor = source_.tensors.at(name);
  tensors_[index] = &tensor;
  TITAN_CHECK(lies_in(want.box, tensor.shape), "a wanted part lies outside its tensor: ", name);
  std::uint64_t covered = 0;
  for (std::size_t i = 0; i < tensor.parts.size(); ++i) {
    const StoredPart& part = tensor.parts[i];
    if (stored_bytes(source_, name, tensor, part) == 0) continue;
    const std::optional<Box> common = intersection(part.box, want.box);
    if (!common) continue;
    const Runs runs = runs_of(part.box, want.box, *common);
    const std::uint64_t element = element_size(tensor.dtype);
    for (const FileRange& range : ranges_of(runs, part.begin, element, gap_of(source_.files[part.file]))) {
      ranges[part.file].push_back(range);
    }
    files_[part.file].overlaps.push_back({index,
                                          static_cast<std::uint32_t>(i),
                                          {part.begin + runs.from * element, part.begin + runs.from_end() * element}});
    covered += static_cast<std::uint64_t>(num_elements(common->size));
  }
  if (covered != wanted_elements) {
    throw DataError("[checkpoint] the parts of a tensor do not make the whole: ", printable(source_.folder.native()),
                    ": ", printable(name));
  }
}

RunCopier ReadPlan::copier(const Overlap& overlap) const {
  const WantedPart& want = wanted_[overlap.wanted];
  const StoredTensor& tensor = *tensors_[overlap.wanted];
  const StoredPart& part = tensor.parts[overlap.part];
  const Runs runs = runs_of(part.box, want.box, *intersection(part.box, want.box));
  return {runs, part.begin, tensor.dtype, want.data, want.tensor.dtype};
}

}  // namespace titan::checkpoint
