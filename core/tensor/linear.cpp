#include "core/tensor/linear.hpp"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_unsafe_view.h>
#include <ATen/ops/linear_compositeimplicitautograd_dispatch.h>
#include <ATen/ops/mm.h>
#include <c10/util/accumulate.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/library.h>

#include <optional>

#include "core/tensor/products.hpp"

namespace titan::tensor {
namespace {

using torch::autograd::SavedVariable;
using torch::autograd::variable_list;

/// x [..., in] as a matrix [rows, in]; it is copied only where its strides ask for it.
at::Tensor as_matrix(const at::Tensor& x) {
  if (x.dim() == 2) return x;
  // Not -1: a rank that has none of the columns has rows still.
  return x.reshape({c10::multiply_integers(x.sizes().slice(0, x.dim() - 1)), x.size(-1)});
}

at::Tensor project(const at::Tensor& x, const at::Tensor& weight) {
  at::Tensor product = at::mm(as_matrix(x), weight.t());
  if (x.dim() == 2) return product;
  auto sizes = x.sizes().vec();
  sizes.back() = weight.size(0);
  return at::_unsafe_view(product, sizes);
}

/// In the place of the nodes of aten::t, view, mm and _unsafe_view. Each gradient is the product that these come to.
struct LinearBackward : torch::autograd::Node {
  SavedVariable x, weight;  // what the gradient of the other one needs
  at::DimVector x_sizes;

  std::string name() const override { return "LinearBackward"; }
  void release_variables() override {
    x.reset_data();
    weight.reset_data();
  }

  variable_list apply(variable_list&& grads) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    variable_list found(2);
    if (!grads[0].defined()) return found;
    // With derivatives of its own asked for, backward is made of operators that autograd records.
    std::optional<at::AutoDispatchBelowADInplaceOrView> below_autograd;
    if (!at::GradMode::is_enabled()) below_autograd.emplace();
    const at::Tensor grad = as_matrix(grads[0]);
    if (task_should_compute_output(0)) found[0] = at::mm(grad, weight.unpack()).view(x_sizes);
    if (task_should_compute_output(1)) found[1] = at::mm(grad.t(), as_matrix(x.unpack()));
    return found;
  }
};

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  const bool is_plain = !bias.has_value() || !bias->defined();
  if (!is_plain || x.dim() == 0 || weight.dim() != 2 || !uses_own_products()) {
    return at::compositeimplicitautograd::linear(x, weight, bias);
  }
  std::shared_ptr<LinearBackward> node;
  if (torch::autograd::compute_requires_grad(x, weight)) {
    node = std::shared_ptr<LinearBackward>(new LinearBackward, torch::autograd::deleteNode);
    node->set_next_edges(torch::autograd::collect_next_edges(x, weight));
    if (weight.requires_grad()) node->x = SavedVariable(x, false);
    if (x.requires_grad()) node->weight = SavedVariable(weight, false);
    node->x_sizes = x.sizes();
  }
  at::Tensor out = [&] {
    const at::AutoDispatchBelowADInplaceOrView below_autograd;
    return project(x, weight);
  }();
  if (node) torch::autograd::set_history(out, node);
  return out;
}

/// Other copies of this room in the process do it too, with the same result.
bool take_the_place_of_libtorchs() {
  // As long as the process: whoever closes a library takes its kernels back.
  for (const c10::DispatchKey key : {c10::DispatchKey::AutogradCPU, c10::DispatchKey::AutogradMeta}) {
    auto* library = new torch::Library(torch::Library::IMPL, "aten", key, __FILE__, __LINE__);
    library->impl("linear", &linear);
  }
  return true;
}

const bool is_in_place = take_the_place_of_libtorchs();

}  // namespace

void use_one_node_linear() { (void)is_in_place; }

}  // namespace titan::tensor
