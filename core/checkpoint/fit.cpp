#include <map>
#include <set>

#include "core/base/error.hpp"
#include "core/base/listing.hpp"
#include "core/checkpoint/read.hpp"

namespace titan::checkpoint {

namespace {

/// Faults of one kind, each tensor once.
class FaultList {
 public:
  explicit FaultList(const char* kind) : kind_(kind) {}

  void add(const std::string& name, const std::string& detail = {}) {
    if (!seen_.insert(name).second || seen_.size() > kMostListed) return;
    shown_.push_back(detail.empty() ? name : concat(name, " (", detail, ')'));
  }
  bool is_empty() const { return seen_.empty(); }
  /// "missing: a, b".
  std::string text() const { return concat(kind_, ": ", join_first(shown_, seen_.size())); }

 private:
  const char* kind_;
  std::vector<std::string> shown_;
  std::set<std::string> seen_;
};

bool fits(DType stored, DType wanted, const FitRules& rules) {
  return stored == wanted || (rules.may_convert && is_floating(stored) && is_floating(wanted));
}

}  // namespace

void require_fit(const Source& source, std::span<const WantedPart> wanted, const FitRules& rules) {
  FaultList missing("missing"), shapes("of another shape"), dtypes("of another dtype");
  for (const WantedPart& want : wanted) {
    const TensorInfo& tensor = want.tensor;
    const auto found = source.tensors.find(tensor.name);
    if (found == source.tensors.end()) {
      // There is nothing to read of a tensor without elements.
      if (num_elements(tensor.shape) != 0) missing.add(tensor.name);
    } else if (const StoredTensor& stored = found->second; stored.shape != tensor.shape) {
      shapes.add(tensor.name, concat(shape_text(stored.shape), " stored, ", shape_text(tensor.shape), " wanted"));
    } else if (!fits(stored.dtype, tensor.dtype, rules)) {
      dtypes.add(tensor.name, concat(torch_name(stored.dtype), " stored, ", torch_name(tensor.dtype), " wanted"));
    }
  }
  std::vector<std::string> faults;
  for (const FaultList* list : {&missing, &shapes, &dtypes}) {
    if (!list->is_empty()) faults.push_back(list->text());
  }
  if (faults.empty()) return;
  throw DataError("[checkpoint] tensors do not fit: ", printable(source.folder.native()), ": ", join(faults, "; "));
}

std::vector<std::string> unexpected_tensors(const Source& source, std::span<const WantedPart> wanted) {
  std::set<std::string_view> names;
  for (const WantedPart& want : wanted) names.insert(want.tensor.name);
  std::vector<std::string> unexpected;
  for (const auto& [name, tensor] : source.tensors) {
    if (!names.contains(name)) unexpected.push_back(name);
  }
  return unexpected;
}

}  // namespace titan::checkpoint
