#include "core/train/anomaly.hpp"

#include <ATen/ops/isfinite.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <limits>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace titan::train {
namespace {

using torch::autograd::AnomalyMode;

// Innermost, so that what an interceptor changes is not blamed on the module.
constexpr std::int32_t kPriority = std::numeric_limits<std::int32_t>::max();

bool is_finite(const at::Tensor& tensor) {
  return !tensor.is_floating_point() || at::isfinite(tensor).all().item<bool>();
}

void check_output(const std::string& module, const at::Tensor& output) {
  if (is_finite(output.detach())) return;
  throw NonFiniteError("[anomaly] the output of a module is not finite: ", module);
}

void check_gradient(const std::string& module, const at::Tensor& gradient) {
  if (!gradient.defined() || is_finite(gradient)) return;
  throw NonFiniteError("[anomaly] the gradient of a module's output is not finite: ", module);
}

}  // namespace

void watch_for_anomalies(nn::Tree& tree) {
  for (nn::ModuleId module = TITAN_MODULE_ROOT + 1; module < tree.num_modules(); ++module) {
    tree.attach(module, kPriority, [name = tree.name(module)](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
      nn::Tensors outputs = next(frame, in);
      for (const at::Tensor& output : outputs) {
        check_output(name, output);
        if (!output.requires_grad()) continue;
        output.register_hook([name](const at::Tensor& gradient) { check_gradient(name, gradient); });
      }
      return outputs;
    });
  }
}

void rethrow_anomaly_report() {
  try {
    throw;
  } catch (const c10::Error& error) {
    const std::string_view text = error.what_without_backtrace();
    if (text.find("returned nan values") == std::string_view::npos) throw;
    throw NonFiniteError("[anomaly] a backward function made a NaN: ", text);
  }
}

AnomalyScope::AnomalyScope(bool enable)
    : enabled_(enable), was_enabled_(AnomalyMode::is_enabled()), checked_nan_(AnomalyMode::should_check_nan()) {
  if (enabled_) AnomalyMode::set_enabled(true, /*check_nan=*/true);
}

AnomalyScope::~AnomalyScope() {
  if (enabled_) AnomalyMode::set_enabled(was_enabled_, checked_nan_);
}

}  // namespace titan::train
