#include "plugins/parallel/activation_checkpoint/operator_policy.hpp"

#include <array>
#include <unordered_map>

namespace titan::parallel {
namespace {

constexpr const char* kProduct = "aten::mm";

// As torchtitan's default, and attention's operators for the CPU and for sequences of different lengths. Collectives
// are no operators here: they are repeated.
constexpr std::array kKept = {
    kProduct,
    "titan::flash_attention",  // the host's own, for the CPU
    "aten::_scaled_dot_product_flash_attention_for_cpu",
    "aten::_scaled_dot_product_flash_attention",
    "aten::_scaled_dot_product_efficient_attention",
    "aten::_scaled_dot_product_cudnn_attention",
    "aten::_scaled_dot_product_fused_attention_overrideable",
    "aten::_flash_attention_forward",
    "aten::_efficient_attention_forward",
    "aten::max",  // of a whole tensor: the scale of low-precision products
};

enum class Rule { always, every_other };
using Rules = std::unordered_map<c10::OperatorHandle, Rule>;

/// By the operators of this libtorch.
const Rules& rules() {
  static const Rules known = [] {
    Rules found;
    for (const char* name : kKept) {
      const auto op = c10::Dispatcher::singleton().findSchema({name, ""});
      if (op) found.emplace(*op, name == kProduct ? Rule::every_other : Rule::always);
    }
    return found;
  }();
  return known;
}

}  // namespace

bool OperatorPolicy::keeps(const c10::OperatorHandle& op) {
  const auto found = rules().find(op);
  if (found == rules().end()) return false;
  return found->second == Rule::always || ++num_products_ % 2 == 1;
}

}  // namespace titan::parallel
