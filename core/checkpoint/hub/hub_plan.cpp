#include "core/checkpoint/hub/hub_plan.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>

#include "core/base/error.hpp"
#include "core/checkpoint/hub/hub_index.hpp"
#include "core/checkpoint/hub/hub_names.hpp"

namespace titan::checkpoint {
namespace {

void add_stack(const HubName& name, const TensorInfo& ours, std::vector<HubTensor>& tensors) {
  if (ours.shape.empty() || ours.shape[0] != name.count) {
    throw DataError("[checkpoint] a tensor is no stack of that many: ", printable(name.name), ": dim 0 is ",
                    ours.shape.empty() ? 0 : ours.shape[0], ", expected ", name.count);
  }
  for (std::int64_t i = 0; i < name.count; ++i) {
    const TensorInfo theirs{stacked_name(name, i), ours.dtype, {ours.shape.begin() + 1, ours.shape.end()}};
    tensors.push_back({theirs, ours, i, 0});
  }
}

std::vector<HubTensor> tensors_of(const Source& source, std::span<const HubName> names, std::optional<DType> dtype) {
  std::vector<HubTensor> tensors;
  for (const HubName& name : names) {
    const StoredTensor& stored = source.tensors.at(name.name);
    const TensorInfo ours{name.name, dtype && is_floating(stored.dtype) ? *dtype : stored.dtype, stored.shape};
    if (name.transform == HubTransform::stacked) {
      add_stack(name, ours, tensors);
    } else {
      const bool has_pairs = name.transform == HubTransform::rope_halves;
      const TensorInfo theirs{name.hub_name, ours.dtype, ours.shape};
      tensors.push_back({theirs, ours, -1, has_pairs ? head_rows(ours.shape, name) : 0});
    }
  }
  return tensors;
}

std::string file_name(std::size_t number, std::size_t count) {
  if (count == 1) return kHubFile;
  char text[64];
  std::snprintf(text, sizeof text, "model-%05zu-of-%05zu.safetensors", number + 1, count);
  return text;
}

}  // namespace

std::uint64_t HubTensor::bytes() const {
  return static_cast<std::uint64_t>(num_elements(tensor.shape)) * element_size(tensor.dtype);
}

std::vector<HubFile> plan_hub_files(const Source& source, std::span<const HubName> names, const HubExport& options) {
  require_names(source, names);
  std::vector<HubFile> files(1);
  std::uint64_t bytes = 0;
  for (HubTensor& tensor : tensors_of(source, names, options.dtype)) {
    const std::uint64_t more = tensor.bytes();
    if (!files.back().tensors.empty() && bytes + more > options.most_bytes_a_file) {
      files.emplace_back();
      bytes = 0;
    }
    bytes += more;
    files.back().tensors.push_back(std::move(tensor));
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    files[i].name = file_name(i, files.size());
    // As the safetensors library does: every tensor is aligned to its elements.
    std::ranges::sort(files[i].tensors, [](const HubTensor& a, const HubTensor& b) {
      const auto key = [](const HubTensor& t) {
        return std::pair(-static_cast<int>(element_size(t.tensor.dtype)), std::string_view(t.tensor.name));
      };
      return key(a) < key(b);
    });
  }
  return files;
}

}  // namespace titan::checkpoint
