#include "core/checkpoint/dcp/export_plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/error.hpp"
#include "core/checkpoint/dcp/object_writer.hpp"
#include "core/checkpoint/dcp/training_objects.hpp"
#include "core/checkpoint/parts.hpp"
#include "core/checkpoint/pieces.hpp"

namespace titan::checkpoint {
namespace {

// Well below the 4 GiB that a zip archive without extensions can have.
constexpr std::uint64_t kMostBytesAChunk = std::uint64_t{1} << 30U;

std::vector<std::pair<Box, const StoredPart*>> boxes_of(const StoredTensor& tensor, std::size_t num_files) {
  std::vector<std::pair<Box, const StoredPart*>> boxes;
  if (tensor.parts.size() > std::max<std::size_t>(num_files, 1)) {
    boxes.emplace_back(Box{std::vector<std::int64_t>(tensor.shape.size(), 0), tensor.shape}, &tensor.parts.front());
  } else {
    for (const StoredPart& part : tensor.parts) boxes.emplace_back(part.box, &part);
  }
  return boxes;
}

/// Numbers the files of the export by the source's.
class FileNumbers {
 public:
  explicit FileNumbers(ExportPlan& plan) : plan_(plan) {}

  std::uint32_t of(std::uint32_t source_file) {
    const auto number = static_cast<std::uint32_t>(numbers_.size());
    const auto [place, is_new] = numbers_.emplace(source_file, number);
    if (is_new) {
      plan_.metadata.files.push_back(concat("__0_", number, ".distcp"));
      plan_.files.emplace_back();
      plan_.sizes.push_back(0);
    }
    return place->second;
  }

 private:
  ExportPlan& plan_;
  std::map<std::uint32_t, std::uint32_t> numbers_;
};

void add_tensor(ExportPlan& plan, FileNumbers& numbers, const std::string& key, const StoredTensor& tensor,
                std::size_t num_files) {
  if (tensor.shape.size() > kMostDcpDims) {
    throw DataError("[checkpoint] a tensor has too many dims for a DCP checkpoint: ", printable(key), ": ",
                    tensor.shape.size(), ", limit ", kMostDcpDims);
  }
  const auto place = plan.metadata.tensors.emplace(key, DcpTensor{tensor.dtype, tensor.shape, {}}).first;
  std::vector<DcpChunk>& chunks = place->second.chunks;
  std::vector<std::uint64_t> order;
  for (const auto& [box, part] : boxes_of(tensor, num_files)) {
    const std::uint32_t file = numbers.of(part->file);
    for (Box& piece : pieces_of(box, kMostBytesAChunk / element_size(tensor.dtype))) {
      chunks.push_back({std::move(piece), {file, 0, 0}});
      order.push_back(part->begin);
    }
  }
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    plan.files[chunks[i].item.file].push_back({&place->first, &place->second, &chunks[i], order[i]});
  }
}

/// Gives an item its place at the end of a file so far.
void lay_out(ExportPlan& plan, DcpItem& item, std::uint64_t length) {
  item.offset = plan.sizes[item.file];
  item.length = length;
  plan.sizes[item.file] += length;
}

}  // namespace

ExportPlan::ExportPlan(const Source& source) {
  FileNumbers numbers(*this);
  numbers.of(0);
  for (const auto& [name, tensor] : source.tensors) {
    add_tensor(*this, numbers, name, tensor, source.files.size());
    num_bytes += static_cast<std::uint64_t>(num_elements(tensor.shape)) * element_size(tensor.dtype);
  }
  for (std::vector<PlannedItem>& items : files) {
    std::stable_sort(items.begin(), items.end(),
                     [](const PlannedItem& a, const PlannedItem& b) { return a.order < b.order; });
    for (const PlannedItem& item : items) {
      lay_out(*this, item.chunk->item, SavedTensorFrame(item.tensor->dtype, item.chunk->box.size).size());
    }
  }
  for (const auto& [name, pickle] : training_objects(source)) {
    objects.push_back(saved_object(pickle));
    lay_out(*this, metadata.objects[name], objects.back().size());
  }
}

}  // namespace titan::checkpoint
