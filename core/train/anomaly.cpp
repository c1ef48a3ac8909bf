#include "core/train/anomaly.hpp"

#include <ATen/ops/isfinite.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <limits>
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

/// Calls a module and watches its outputs, now and in backward.
nn::Tensors watched(const std::string& module, const std::shared_ptr<std::string>& in_backward, nn::Frame& frame,
                    const nn::Next& next, const nn::Tensors& in) {
  nn::Tensors outputs = next(frame, in);
  for (const at::Tensor& output : outputs) {
    check_output(module, output);
    if (!output.requires_grad()) continue;
    output.register_hook([module, in_backward](const at::Tensor& gradient) {
      check_gradient(module, gradient);
      *in_backward = module;
    });
  }
  return outputs;
}

}  // namespace

AnomalyWatch::AnomalyWatch(nn::Tree& tree)
    : in_backward_(std::make_shared<std::string>()),
      mode_was_enabled_(AnomalyMode::is_enabled()),
      mode_checked_nan_(AnomalyMode::should_check_nan()) {
  AnomalyMode::set_enabled(true, /*check_nan=*/true);
  for (nn::ModuleId module = TITAN_MODULE_ROOT + 1; module < tree.num_modules(); ++module) {
    tree.attach(
        module, kPriority,
        [name = tree.name(module), in_backward = in_backward_](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
          return watched(name, in_backward, frame, next, in);
        });
  }
}

AnomalyWatch::~AnomalyWatch() { AnomalyMode::set_enabled(mode_was_enabled_, mode_checked_nan_); }

void AnomalyWatch::rethrow_report() const {
  try {
    throw;
  } catch (const c10::Error& error) {
    const std::string_view text = error.what_without_backtrace();
    if (text.find("returned nan values") == std::string_view::npos) throw;
    throw NonFiniteError("[anomaly] NaN in the backward of a module: ", *in_backward_, ": ", text);
  }
}

}  // namespace titan::train
