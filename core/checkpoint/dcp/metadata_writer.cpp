#include <algorithm>
#include <iterator>

#include "core/base/error.hpp"
#include "core/checkpoint/dcp/dcp_names.hpp"
#include "core/checkpoint/dcp/metadata.hpp"
#include "core/checkpoint/dcp/torchtitan_keys.hpp"
#include "core/pickle/writer.hpp"

namespace titan::checkpoint {
namespace {

using namespace dcp_names;

// filesystem.CURRENT_DCP_VERSION of PyTorch 2.11.
constexpr std::string_view kVersion = "1.0.0";

std::string_view torch_dtype(DType dtype) {
  return std::find_if(std::begin(kDTypes), std::end(kDTypes),
                      [&](const DTypeNames& names) { return names.dtype == dtype; })
      ->torch;
}

/// torch.Size.
void write_sizes(pickle::Writer& pickle, const std::vector<std::int64_t>& sizes) {
  pickle.name(dcp_names::kSize);
  pickle.begin_tuple();
  pickle.begin_tuple();
  for (const std::int64_t size : sizes) pickle.integer(size);
  pickle.end_tuple();
  pickle.end_tuple();
  pickle.call();
}

void write_properties(pickle::Writer& pickle, DType dtype) {
  pickle.name(kProperties);
  pickle.object();
  pickle.begin_tuple();
  pickle.name(torch_dtype(dtype));
  pickle.name(kLayout);
  pickle.begin_tuple();
  pickle.text("torch.strided");
  pickle.end_tuple();
  pickle.call();
  pickle.boolean(false);  // requires_grad
  pickle.name(kMemoryFormat);
  pickle.begin_tuple();
  pickle.integer(0);  // TORCH_CONTIGUOUS_FORMAT
  pickle.end_tuple();
  pickle.call();
  pickle.boolean(false);  // pin_memory
  pickle.end_tuple();
  pickle.set_state();
}

void write_tensor(pickle::Writer& pickle, const DcpTensor& tensor) {
  pickle.name(kTensor);
  pickle.begin_object();
  pickle.text("properties");
  write_properties(pickle, tensor.dtype);
  pickle.text("size");
  write_sizes(pickle, tensor.shape);
  pickle.text("chunks");
  pickle.begin_list();
  for (const DcpChunk& chunk : tensor.chunks) {
    pickle.name(kChunk);
    pickle.begin_object();
    pickle.text("offsets");
    write_sizes(pickle, chunk.box.offset);
    pickle.text("sizes");
    write_sizes(pickle, chunk.box.size);
    pickle.end_object();
  }
  pickle.end_list();
  pickle.end_object();
}

void write_items(pickle::Writer& pickle, const DcpMetadata& metadata) {
  pickle.begin_dict();
  for (const auto& [name, tensor] : metadata.tensors) {
    pickle.text(name);
    write_tensor(pickle, tensor);
  }
  for (const auto& [name, item] : metadata.objects) {
    pickle.text(name);
    pickle.name(kObject);
    pickle.object();
  }
  pickle.end_dict();
}

/// The keys in a nested state that lead to the item.
void write_path(pickle::Writer& pickle, std::string_view name) {
  const std::size_t dot = name.find('.');
  const bool is_nested = dot != std::string_view::npos &&
                         std::find(std::begin(torchtitan_keys::kNestedKeys), std::end(torchtitan_keys::kNestedKeys),
                                   name.substr(0, dot)) != std::end(torchtitan_keys::kNestedKeys);
  pickle.text(name);
  pickle.begin_tuple();
  if (is_nested) pickle.text(name.substr(0, dot));
  pickle.text(is_nested ? name.substr(dot + 1) : name);
  pickle.end_tuple();
}

void write_paths(pickle::Writer& pickle, const DcpMetadata& metadata) {
  pickle.begin_dict();
  for (const auto& [name, tensor] : metadata.tensors) write_path(pickle, name);
  for (const auto& [name, item] : metadata.objects) write_path(pickle, name);
  pickle.end_dict();
}

/// `offset` and `index`: of a chunk of a tensor, else none.
void write_place(pickle::Writer& pickle, const DcpMetadata& metadata, std::string_view name, const DcpItem& item,
                 const std::vector<std::int64_t>* offset, std::size_t index) {
  pickle.name(kIndex);
  pickle.begin_object();
  pickle.text("fqn");
  pickle.text(name);
  pickle.text("index");
  if (offset == nullptr) {
    pickle.none();
  } else {
    pickle.integer(static_cast<std::int64_t>(index));
    pickle.text("offset");
    write_sizes(pickle, *offset);
  }
  pickle.end_object();
  pickle.name(kStorageInfo);
  pickle.begin_object();
  pickle.text("relative_path");
  pickle.text(metadata.files[item.file]);
  pickle.text("offset");
  pickle.integer(static_cast<std::int64_t>(item.offset));
  pickle.text("length");
  pickle.integer(static_cast<std::int64_t>(item.length));
  pickle.end_object();
}

void write_places(pickle::Writer& pickle, const DcpMetadata& metadata) {
  pickle.begin_dict();
  for (const auto& [name, tensor] : metadata.tensors) {
    for (std::size_t i = 0; i < tensor.chunks.size(); ++i) {
      write_place(pickle, metadata, name, tensor.chunks[i].item, &tensor.chunks[i].box.offset, i);
    }
  }
  for (const auto& [name, item] : metadata.objects) write_place(pickle, metadata, name, item, nullptr, 0);
  pickle.end_dict();
}

}  // namespace

std::string write_dcp_metadata(const DcpMetadata& metadata) {
  pickle::Writer pickle;
  pickle.name(kMetadata);
  pickle.begin_object();
  pickle.text("state_dict_metadata");
  write_items(pickle, metadata);
  pickle.text("planner_data");
  write_paths(pickle, metadata);
  pickle.text("storage_data");
  write_places(pickle, metadata);
  pickle.text("storage_meta");
  pickle.none();
  pickle.text("version");
  pickle.text(kVersion);
  pickle.end_object();
  return pickle.finish();
}

}  // namespace titan::checkpoint
