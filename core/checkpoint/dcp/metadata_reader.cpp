#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/base/error.hpp"
#include "core/checkpoint/dcp/dcp_names.hpp"
#include "core/checkpoint/dcp/metadata.hpp"
#include "core/checkpoint/file_name.hpp"
#include "core/checkpoint/input_file.hpp"
#include "core/checkpoint/parts.hpp"
#include "core/pickle/document.hpp"

namespace titan::checkpoint {
namespace {

using namespace dcp_names;

// Some 300 bytes for each chunk of a tensor: hundreds of ranks with a large model. Values take ten times as much
// memory.
constexpr std::uint64_t kMostMetadataBytes = std::uint64_t{256} << 20U;
constexpr std::size_t kMostNameBytes = 4096;
constexpr std::size_t kMostShownBytes = 256;
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

constexpr std::string_view kAllowed[] = {
    kMetadata, kTensor, kObject, kChunk, kIndex, kProperties, kMemoryFormat, kStorageMeta, kStorageInfo, kSize, kLayout,
    kOrderedDict, kDTypes[0].torch, kDTypes[1].torch, kDTypes[2].torch, kDTypes[3].torch, kDTypes[4].torch,
    kDTypes[5].torch, kDTypes[6].torch, kDTypes[7].torch, kDTypes[8].torch, kDTypes[9].torch,
    // The folder that the checkpoint was written to; nobody looks at it.
    "pathlib.PosixPath", "pathlib.PurePosixPath", "pathlib._local.PosixPath"};
static_assert(std::size(kDTypes) == 10);

using Sizes = std::vector<std::int64_t>;

/// Takes a pickled Metadata apart. What is being read is in `item_`, for errors.
class MetadataReader {
 public:
  MetadataReader(const pickle::Document& pickle, const std::string& source) : pickle_(pickle), source_(source) {}

  DcpMetadata read() {
    const pickle::Value root = pickle_.root();
    if (root.name() != kMetadata) fail("no Metadata of torch.distributed.checkpoint");
    read_storage(need(root, "storage_data", pickle::Kind::dict));
    const pickle::Value items = need(root, "state_dict_metadata", pickle::Kind::dict);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto name = items.key(i).text();
      if (!name || name->empty() || name->size() > kMostNameBytes) fail("a name of an item is no text, or too long");
      item_ = *name;
      read_item(std::string(*name), items.item(i));
    }
    return std::move(metadata_);
  }

 private:
  /// A text key, and the offset of a chunk within its tensor.
  using Key = std::pair<std::string_view, Sizes>;

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... reason) const {
    const std::string item = item_.empty() ? "" : concat(": ", printable(shortened(item_, kMostShownBytes)));
    throw DataError("[checkpoint] metadata of a DCP checkpoint that is not understood: ", printable(source_), item,
                    ": ", reason...);
  }

  pickle::Value need(const pickle::Value& object, const char* field) const {
    const std::optional<pickle::Value> value = object.field(field);
    if (!value) fail("it lacks ", field);
    return *value;
  }

  pickle::Value need(const pickle::Value& object, const char* field, pickle::Kind kind) const {
    const pickle::Value value = need(object, field);
    if (value.kind() != kind) fail(field, " is of another kind");
    return value;
  }

  std::uint64_t need_count(const pickle::Value& object, const char* field) const {
    const std::optional<std::int64_t> count = need(object, field).integer();
    if (!count || *count < 0) fail(field, " is no count");
    return static_cast<std::uint64_t>(*count);
  }

  /// torch.Size((2, 3)).
  Sizes sizes_of(const pickle::Value& value, const char* what) const {
    const std::optional<pickle::Value> arguments = value.argument();
    if (value.kind() != pickle::Kind::call || value.name() != kSize || arguments->size() != 1)
      fail(what, " is no Size");
    const pickle::Value items = arguments->item(0);
    if (items.kind() != pickle::Kind::tuple) fail(what, " is no Size");
    if (items.size() > kMostDcpDims) fail(what, " has more than ", kMostDcpDims, " dims");
    Sizes sizes;
    sizes.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::optional<std::int64_t> size = items.item(i).integer();
      if (!size || *size < 0) fail(what, " has a size that is no count");
      sizes.push_back(*size);
    }
    return sizes;
  }

  // Where items lie.

  void read_storage(const pickle::Value& storage) {
    for (std::size_t i = 0; i < storage.size(); ++i) {
      const pickle::Value index = storage.key(i), info = storage.item(i);
      if (index.name() != kIndex || info.name() != kStorageInfo) fail("storage_data has something else in it");
      const auto name = need(index, "fqn").text();
      if (!name) fail("fqn is no text");
      item_ = *name;
      // Items that are no tensor have no offset; Python leaves the field out, or says None.
      const std::optional<pickle::Value> offset = index.field("offset");
      const bool has_offset = offset && !offset->is_none();
      Key key{*name, has_offset ? sizes_of(*offset, "offset") : Sizes()};
      if (!places_.emplace(std::move(key), place_of(info)).second) fail("storage_data has it twice");
    }
    item_ = {};
  }

  DcpItem place_of(const pickle::Value& info) {
    const std::optional<pickle::Value> transforms = info.field("transform_descriptors");
    if (transforms && !transforms->is_none() && transforms->size() != 0) fail("it is compressed or encrypted");
    const auto path = need(info, "relative_path").text();
    if (!path) fail("relative_path is no text");
    const DcpItem place{number_of_file(*path), need_count(info, "offset"), need_count(info, "length")};
    if (place.length > static_cast<std::uint64_t>(kMost) - place.offset) fail("its length is too large");
    return place;
  }

  std::uint32_t number_of_file(std::string_view name) {
    const auto found = files_.find(name);
    if (found != files_.end()) return found->second;
    if (!is_file_name(name)) {
      fail("not the name of a file in the same folder: ", printable(shortened(name, kMostShownBytes)));
    }
    const auto number = static_cast<std::uint32_t>(metadata_.files.size());
    metadata_.files.emplace_back(name);
    files_.emplace(name, number);
    return number;
  }

  const DcpItem& place_of(const Key& key) const {
    const auto found = places_.find(key);
    if (found == places_.end()) fail("storage_data lacks it, or one of its chunks");
    return found->second;
  }

  // Items.

  void read_item(std::string name, const pickle::Value& value) {
    const bool is_tensor = value.kind() == pickle::Kind::object && value.name() == kTensor;
    const bool is_object = value.kind() == pickle::Kind::object && value.name() == kObject;
    if (!is_tensor && !is_object) fail("neither a TensorStorageMetadata nor a BytesStorageMetadata");
    if (metadata_.tensors.contains(name) || metadata_.objects.contains(name)) fail("it is there twice");
    if (is_object) {
      metadata_.objects.emplace(std::move(name), place_of(Key{item_, {}}));
    } else {
      metadata_.tensors.emplace(std::move(name), tensor_of(value));
    }
  }

  DcpTensor tensor_of(const pickle::Value& value) {
    DcpTensor tensor{dtype_of(need(value, "properties")), sizes_of(need(value, "size"), "size"), {}};
    num_elements(tensor.shape);
    const pickle::Value chunks = need(value, "chunks", pickle::Kind::list);
    // Every chunk has a place of its own. Lists that tensors share would be read again and again.
    num_chunks_ += chunks.size();
    if (num_chunks_ > places_.size()) fail("more chunks than storage_data has places for");
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      Box box = box_of(chunks.item(i), tensor.shape);
      if (std::find(box.size.begin(), box.size.end(), 0) != box.size.end()) continue;
      const DcpItem item = place_of(Key{item_, box.offset});
      tensor.chunks.push_back({std::move(box), item});
    }
    return tensor;
  }

  DType dtype_of(const pickle::Value& properties) const {
    // What TensorProperties.__getstate__() gives: dtype, layout, requires_grad, memory_format, pin_memory.
    const std::optional<pickle::Value> state = properties.state();
    if (properties.name() != kProperties || !state || state->kind() != pickle::Kind::tuple || state->size() != 5) {
      fail("properties are no TensorProperties");
    }
    require_strided(state->item(1));
    const std::string_view name = state->item(0).kind() == pickle::Kind::name ? state->item(0).name() : "";
    const auto found = std::find_if(std::begin(kDTypes), std::end(kDTypes),
                                    [&](const DTypeNames& names) { return names.torch == name; });
    if (found == std::end(kDTypes)) fail("its dtype is none");
    return found->dtype;
  }

  void require_strided(const pickle::Value& layout) const {
    const std::optional<pickle::Value> arguments = layout.argument();
    const bool is_strided =
        layout.name() == kLayout && arguments && arguments->size() == 1 && arguments->item(0).text() == "torch.strided";
    if (!is_strided) fail("its layout is not torch.strided");
  }

  Box box_of(const pickle::Value& chunk, const Sizes& shape) const {
    if (chunk.name() != kChunk) fail("a chunk is no ChunkStorageMetadata");
    Box box{sizes_of(need(chunk, "offsets"), "offsets"), sizes_of(need(chunk, "sizes"), "sizes")};
    if (box.offset.size() != shape.size() || box.size.size() != shape.size()) fail("a chunk has other dims");
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (box.offset[i] > shape[i] || box.size[i] > shape[i] - box.offset[i]) fail("a chunk leaves the tensor");
    }
    return box;
  }

  const pickle::Document& pickle_;
  const std::string& source_;
  DcpMetadata metadata_;
  std::string_view item_;  // in the pickle
  std::map<Key, DcpItem> places_;
  std::unordered_map<std::string_view, std::uint32_t> files_;
  std::size_t num_chunks_ = 0;
};

}  // namespace

DcpMetadata read_dcp_metadata(std::string bytes, const std::string& source) {
  const pickle::Document pickle = pickle::Document::read(std::move(bytes), kAllowed, source);
  return MetadataReader(pickle, source).read();
}

DcpMetadata read_dcp_metadata(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kDcpMetadataFile;
  return read_dcp_metadata(open_patiently(path).read_all(kMostMetadataBytes), path.native());
}

}  // namespace titan::checkpoint
