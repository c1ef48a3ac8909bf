#include "plugins/observability/numerics/signature.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <map>

#include "plugins/observability/kept_state.hpp"
#include "titan/torch/tree.hpp"

namespace titan::observability {

std::uint64_t hash_of(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.is_meta() || tensor.layout() != at::kStrided || tensor.numel() == 0) return 0;
  // Parameters that are let go of keep their shapes.
  if (!tensor.has_storage() || tensor.storage().nbytes() == 0) return 0;
  const at::Tensor dense = tensor.detach().to(at::kCPU).contiguous();
  return XXH3_64bits(dense.const_data_ptr(), dense.nbytes());
}

Signature sign(const sdk::GuardHandles& handles, double loss_sum) {
  Signature signature;
  signature.entries.push_back({"loss", std::bit_cast<std::uint64_t>(loss_sum)});
  std::map<std::string, int> gradients;
  std::vector<KeptTensor> all = kept_state(handles, {TITAN_STATE_GRADIENT, TITAN_STATE_BUFFER});
  // As backward makes them, about: what differs first stands nearest to the cause.
  std::reverse(all.begin(), all.end());
  for (const KeptTensor& kept : all) {
    const bool is_gradient = kept.kind == TITAN_STATE_GRADIENT;
    // Two of a name: what the step has summed, and what backward left and nobody has taken yet.
    const bool is_second = is_gradient && ++gradients[kept.name] > 1;
    signature.entries.push_back(
        {sdk::concat(is_gradient ? "gradient of " : "buffer ", kept.name, is_second ? " (of the other form)" : ""),
         hash_of(kept.tensor)});
  }
  const strategy::Tree tree(sdk::TreeHandle{handles.host, handles.tree, 0});
  signature.entries.push_back({"random state", hash_of(tree.random_state())});
  return signature;
}

std::vector<std::string> differences(const Signature& a, const Signature& b) {
  std::map<std::string, std::uint64_t> others;
  for (const Signature::Entry& entry : b.entries) others[entry.name] = entry.hash;
  std::vector<std::string> names;
  for (const Signature::Entry& entry : a.entries) {
    const auto other = others.find(entry.name);
    if (other == others.end() || other->second != entry.hash) names.push_back(entry.name);
    if (other != others.end()) others.erase(other);
  }
  for (const auto& [name, hash] : others) names.push_back(name);
  return names;
}

}  // namespace titan::observability
