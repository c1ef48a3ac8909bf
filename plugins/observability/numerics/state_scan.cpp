#include "plugins/observability/numerics/state_scan.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "plugins/observability/kept_state.hpp"
#include "plugins/observability/numerics/finite_scan.hpp"
#include "plugins/observability/tensor_text.hpp"
#include "titan/torch/tree.hpp"

namespace titan::observability {
namespace {

constexpr std::size_t kMostNamed = 5;

/// Where the rank's part of a parameter begins, by its name; of an optimizer's state by that of its parameter.
class Offsets {
 public:
  explicit Offsets(const sdk::GuardHandles& handles) {
    const strategy::Tree tree(sdk::TreeHandle{handles.host, handles.tree, 0});
    for (const strategy::Module& module : tree.modules()) {
      for (const strategy::Parameter& parameter : module.parameters()) {
        if (parameter.is_kept()) parts_[parameter.name()] = parameter.part();
      }
    }
  }
  std::vector<std::int64_t> of(const std::string& name, const at::Tensor& tensor) const {
    auto found = parts_.find(name);
    if (found == parts_.end()) found = parts_.find(name.substr(0, name.rfind('.')));
    // A compute form may be of more than the part.
    if (found == parts_.end() || tensor.sizes() != at::IntArrayRef(found->second.sizes)) return {};
    return found->second.offsets;
  }

 private:
  std::map<std::string, strategy::Part> parts_;
};

bool is_of_squares(const KeptTensor& kept) {
  return kept.kind == TITAN_STATE_OPTIMIZER && kept.name.ends_with(".exp_avg_sq");
}

/// A buffer may hold infinite numbers, as masks do.
bool is_broken(const KeptTensor& kept) {
  const Range range = range_of(kept.tensor);
  if (kept.kind == TITAN_STATE_BUFFER) return std::isnan(range.low);
  if (!range.is_finite() || (is_of_squares(kept) && range.low < 0)) return true;
  return range.is_large(kept.tensor.scalar_type()) && has_outlier(kept.tensor);
}

/// What is suspect where a step comes to no finite numbers.
bool is_large(const KeptTensor& kept) {
  const Range range = range_of(kept.tensor);
  if (kept.kind == TITAN_STATE_BUFFER && std::isinf(range.high)) return true;
  return range.is_large(kept.tensor.scalar_type());
}

std::string trouble_of(const KeptTensor& kept, const Offsets& offsets) {
  const Range range = range_of(kept.tensor);
  if (is_of_squares(kept) && range.is_finite() && range.low < 0) {
    return sdk::concat("it has negative values, which a mean of squares has not: ", describe(range));
  }
  return describe_trouble(kept.tensor, offsets.of(kept.name, kept.tensor));
}

using IsMeant = bool (*)(const KeptTensor&);

std::vector<KeptTensor> find_state(const sdk::GuardHandles& handles, const std::vector<std::int32_t>& kinds,
                                   IsMeant is_meant) {
  std::vector<KeptTensor> found;
  for (const std::int32_t kind : kinds) {
    for (KeptTensor& kept : kept_state(handles, {kind})) {
      const bool is_known =
          std::any_of(found.begin(), found.end(), [&](const KeptTensor& other) { return other.name == kept.name; });
      if (!is_known && is_meant(kept)) found.push_back(std::move(kept));
    }
  }
  return found;
}

std::string describe_state(const sdk::GuardHandles& handles, const std::vector<std::int32_t>& kinds, IsMeant is_meant) {
  const std::vector<KeptTensor> found = find_state(handles, kinds, is_meant);
  if (found.empty()) return {};
  const KeptTensor& first = found.front();
  std::string text =
      sdk::concat(first.name, " (", type_and_shape(first.tensor), "): ", trouble_of(first, Offsets(handles)));
  for (std::size_t i = 1; i < std::min(found.size(), kMostNamed); ++i) {
    text += sdk::concat(i == 1 ? "; others like it: " : ", ", found[i].name);
  }
  if (found.size() > kMostNamed) text += sdk::concat(" and ", found.size() - kMostNamed, " more");
  return text;
}

}  // namespace

std::string describe_state_trouble(const sdk::GuardHandles& handles, const std::vector<std::int32_t>& kinds) {
  return describe_state(handles, kinds, is_broken);
}

std::string describe_large_state(const sdk::GuardHandles& handles, const std::vector<std::int32_t>& kinds) {
  return describe_state(handles, kinds, is_large);
}

}  // namespace titan::observability
