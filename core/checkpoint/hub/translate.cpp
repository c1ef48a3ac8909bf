#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/error.hpp"
#include "core/checkpoint/hub/hub.hpp"
#include "core/checkpoint/hub/hub_names.hpp"

namespace titan::checkpoint {
namespace {

// Of all tensors that are taken apart: a model of 400 billion parameters has half as many. A part takes some 200 bytes,
// and a file may claim any number of rows.
constexpr std::int64_t kMostRows = std::int64_t{1} << 22U;

/// Takes a tensor of the hub apart row by row: those that follow each other here do not there.
StoredTensor pairs_of_halves(const StoredTensor& theirs, std::int64_t rows_a_head) {
  StoredTensor ours{theirs.dtype, theirs.shape, {}};
  if (theirs.parts.empty()) return ours;
  const StoredPart& whole = theirs.parts.front();
  Box row = whole.box;
  row.size[0] = 1;
  const std::uint64_t row_bytes = static_cast<std::uint64_t>(num_elements(row.size)) * element_size(theirs.dtype);
  ours.parts.reserve(static_cast<std::size_t>(theirs.shape[0]));
  for (std::int64_t i = 0; i < theirs.shape[0]; ++i) {
    row.offset[0] = i;
    const auto skipped = static_cast<std::uint64_t>(hub_row(i, rows_a_head));
    ours.parts.push_back({row, whole.file, whole.begin + skipped * row_bytes});
  }
  return ours;
}

/// Where one tensor lies in those that are stacked along a new first dim.
StoredPart part_of_stack(const StoredPart& whole, std::int64_t index) {
  StoredPart part = whole;
  part.box.offset.insert(part.box.offset.begin(), index);
  part.box.size.insert(part.box.size.begin(), 1);
  return part;
}

void append_to_stack(StoredTensor& stack, const StoredTensor& theirs, const HubName& name, std::int64_t index) {
  if (theirs.dtype != stack.dtype ||
      !std::equal(theirs.shape.begin(), theirs.shape.end(), stack.shape.begin() + 1, stack.shape.end())) {
    throw DataError("[checkpoint] tensors that belong together differ in shape or dtype: ",
                    printable(stacked_name(name, 0)), ", ", printable(stacked_name(name, index)));
  }
  for (const StoredPart& whole : theirs.parts) stack.parts.push_back(part_of_stack(whole, index));
}

/// Collects the names that are used and our tensors.
class Translation {
 public:
  explicit Translation(const Source& hub) : hub_(hub) {}

  void add(const HubName& name) {
    if (name.transform == HubTransform::stacked) return add_stack(name);
    const StoredTensor* theirs = find(name.hub_name);
    if (theirs == nullptr) return;
    keep(name.name, name.transform == HubTransform::same ? *theirs : taken_apart(*theirs, name));
  }

  /// What no name covers stays as it is.
  std::map<std::string, StoredTensor> take() {
    for (const auto& [name, theirs] : hub_.tensors) {
      if (!used_.contains(name)) keep(name, theirs);
    }
    return std::move(ours_);
  }

 private:
  StoredTensor taken_apart(const StoredTensor& theirs, const HubName& name) {
    const std::int64_t rows_a_head = head_rows(theirs.shape, name);
    if (theirs.shape[0] > kMostRows - rows_) {
      throw DataError("[checkpoint] tensors have too many rows to take apart: ", printable(name.hub_name), ": ",
                      theirs.shape[0], " rows, ", rows_, " before, limit ", kMostRows);
    }
    rows_ += theirs.shape[0];
    return pairs_of_halves(theirs, rows_a_head);
  }

  const StoredTensor* find(const std::string& name) {
    const auto found = hub_.tensors.find(name);
    if (found == hub_.tensors.end()) return nullptr;
    TITAN_CHECK(found->second.parts.size() <= 1, "a tensor of the hub in parts: ", name);
    used_.insert(found->first);
    return &found->second;
  }

  void add_stack(const HubName& name) {
    const StoredTensor* first = find(stacked_name(name, 0));
    if (first == nullptr) return;
    if (name.count < 1) throw DataError("[checkpoint] a stack of no tensors: ", printable(name.hub_name));
    StoredTensor stack{first->dtype, first->shape, {}};
    stack.shape.insert(stack.shape.begin(), name.count);
    for (std::int64_t i = 0; i < name.count; ++i) {
      const StoredTensor* theirs = find(stacked_name(name, i));
      if (theirs == nullptr) {
        throw DataError("[checkpoint] a tensor of several that belong together is missing: ",
                        printable(stacked_name(name, i)), ", ", printable(hub_.folder.native()));
      }
      append_to_stack(stack, *theirs, name, i);
    }
    keep(name.name, std::move(stack));
  }

  void keep(const std::string& name, StoredTensor tensor) {
    if (ours_.emplace(name, std::move(tensor)).second) return;
    throw DataError("[checkpoint] two tensors get the same name: ", printable(name), ", ",
                    printable(hub_.folder.native()));
  }

  const Source& hub_;
  std::map<std::string, StoredTensor> ours_;
  std::set<std::string_view> used_;
  std::int64_t rows_ = 0;  // of the tensors that were taken apart
};

}  // namespace

Source translate(const Source& hub, std::span<const HubName> names) {
  Source ours = hub;
  Translation translation(hub);
  for (const HubName& name : names) translation.add(name);
  ours.tensors = translation.take();
  return ours;
}

}  // namespace titan::checkpoint
