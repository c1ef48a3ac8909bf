#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "core/checkpoint/dcp/dcp.hpp"
#include "core/checkpoint/dcp/item_bytes.hpp"
#include "core/checkpoint/dcp/metadata.hpp"
#include "core/checkpoint/dcp/saved_object.hpp"
#include "core/checkpoint/dcp/torchtitan_keys.hpp"
#include "core/checkpoint/input_file.hpp"
#include "core/checkpoint/tiling.hpp"

namespace titan::checkpoint {
namespace {

bool is_tensor_of_training(const std::string& name) {
  return std::none_of(std::begin(torchtitan_keys::kOtherKeys), std::end(torchtitan_keys::kOtherKeys),
                      [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Reads the frames of items.
class ItemReader {
 public:
  ItemReader(const std::filesystem::path& folder, const DcpMetadata& metadata) : folder_(folder), metadata_(metadata) {}

  /// Calls `use` with the saved object.
  template <class Use>
  auto with(const std::string& name, const DcpItem& item, const Use& use) {
    open(item.file);
    const ItemBytes bytes(*file_, item.offset, item.length);
    return use(SavedObject(bytes.range(), concat(file_->path().native(), ": ", name)));
  }

  std::uint64_t size_of(std::uint32_t file) {
    open(file);
    return file_->size();
  }

 private:
  /// One at a time: there may be more files than descriptors.
  void open(std::uint32_t file) {
    if (file_ && number_ == file) return;
    file_.emplace(open_patiently(folder_ / metadata_.files[file]));
    number_ = file;
  }

  const std::filesystem::path& folder_;
  const DcpMetadata& metadata_;
  std::optional<InputFile> file_;
  std::uint32_t number_ = 0;
};

/// The bytes of a part, and what the archive around them must hold.
struct WantedFrame {
  const std::string* name;
  DType dtype;
  const DcpChunk* chunk;
  StoredPart* part;
};

void find_bytes(ItemReader& reader, const WantedFrame& frame) {
  const DcpItem& item = frame.chunk->item;
  const SavedTensor saved = reader.with(*frame.name, item, [](const SavedObject& object) { return object.tensor(); });
  if (saved.dtype != frame.dtype || saved.shape != frame.chunk->box.size) {
    throw DataError("[checkpoint] a tensor is not what the metadata of its DCP checkpoint says: ",
                    printable(*frame.name), ": ", torch_name(saved.dtype), " with ", num_elements(saved.shape),
                    " elements, expected ", torch_name(frame.dtype), " with ", num_elements(frame.chunk->box.size));
  }
  frame.part->begin = item.offset + saved.begin;
}

/// Bytes belong to one item each; `one` begins before `other`.
void require_apart(const WantedFrame& one, const WantedFrame& other, const DcpMetadata& metadata) {
  const DcpItem &before = one.chunk->item, &here = other.chunk->item;
  if (before.file != here.file || before.offset + before.length <= here.offset) return;
  throw DataError("[checkpoint] items of a DCP checkpoint share bytes: ", printable(*one.name), ", ",
                  printable(*other.name), ", ", printable(metadata.files[here.file]), ", at ", here.offset);
}

void require_tiling(const Source& source, const std::string& name, StoredTensor& tensor) {
  const std::string fault = tiling_fault(tensor.shape, tensor.parts);
  if (!fault.empty()) {
    throw DataError("[checkpoint] ", printable((source.folder / kDcpMetadataFile).native()), ": ", printable(name),
                    ": ", fault);
  }
  std::sort(tensor.parts.begin(), tensor.parts.end(),
            [](const StoredPart& a, const StoredPart& b) { return a.box.offset < b.box.offset; });
}

void add_tensors(Source& source, ItemReader& reader, const DcpMetadata& metadata) {
  std::vector<WantedFrame> frames;
  for (const auto& [name, tensor] : metadata.tensors) {
    if (!is_tensor_of_training(name)) continue;
    StoredTensor& stored = source.tensors[name];
    stored = {tensor.dtype, tensor.shape, {}};
    for (const DcpChunk& chunk : tensor.chunks) stored.parts.push_back({chunk.box, chunk.item.file, 0});
    for (std::size_t i = 0; i < stored.parts.size(); ++i) {
      frames.push_back({&name, tensor.dtype, &tensor.chunks[i], &stored.parts[i]});
    }
  }
  std::sort(frames.begin(), frames.end(), [](const WantedFrame& one, const WantedFrame& other) {
    const DcpItem &a = one.chunk->item, &b = other.chunk->item;
    return std::pair(a.file, a.offset) < std::pair(b.file, b.offset);
  });
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i > 0) require_apart(frames[i - 1], frames[i], metadata);
    find_bytes(reader, frames[i]);
  }
  for (auto& [name, tensor] : source.tensors) require_tiling(source, name, tensor);
}

/// A counter, pickled or as a tensor of one element.
std::optional<std::int64_t> find_counter(ItemReader& reader, const DcpMetadata& metadata, std::string_view key) {
  const std::string name(key);
  std::optional<DcpItem> item;
  if (const auto found = metadata.objects.find(name); found != metadata.objects.end()) item = found->second;
  if (const auto found = metadata.tensors.find(name); found != metadata.tensors.end()) {
    if (found->second.chunks.size() == 1) item = found->second.chunks.front().item;
  }
  if (!item) return std::nullopt;
  const std::int64_t count = reader.with(name, *item, [](const SavedObject& object) { return object.integer(); });
  if (count < 0) throw DataError("[checkpoint] a counter is negative: ", name, ": ", count);
  return count;
}

std::optional<TrainState> find_train_state(ItemReader& reader, const DcpMetadata& metadata) {
  const std::optional<std::int64_t> step = find_counter(reader, metadata, torchtitan_keys::kStep);
  if (!step) return std::nullopt;
  TrainState state;
  state.step = *step;
  state.num_tokens = find_counter(reader, metadata, torchtitan_keys::kTokens).value_or(0);
  state.schedule_step = find_counter(reader, metadata, torchtitan_keys::kScheduleStep).value_or(*step);
  return state;
}

}  // namespace

Source open_dcp(const std::filesystem::path& folder) {
  const DcpMetadata metadata = read_dcp_metadata(folder);
  Source source;
  source.format = Format::dcp;
  source.folder = folder;
  ItemReader reader(folder, metadata);
  add_tensors(source, reader, metadata);
  for (std::uint32_t file = 0; file < metadata.files.size(); ++file) {
    source.files.push_back({folder / metadata.files[file], reader.size_of(file), 0, {}});
  }
  source.train_state = find_train_state(reader, metadata);
  return source;
}

}  // namespace titan::checkpoint
