// The part of titan.tree/1 that strategies use: placements, the ledger, and the tensors of parameters.
#include <algorithm>

#include "core/nn/interface_arguments.hpp"
#include "core/tensor/dtype.hpp"
#include "core/tensor/guard.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::nn {
namespace {

using tensor::guarded;

std::vector<config::Axis> axes_of(titan_string axis) {
  try {
    return config::Mesh::axes(text_of(axis, "axis"));
  } catch (const InternalError& error) {
    throw PluginError(error.what());
  }
}

titan_error* shard(titan_tree* tree, titan_module module, std::uint32_t index, titan_string axis, std::int64_t dim,
                   std::int64_t offset, std::int64_t length) {
  return guarded([&] {
    Tree& self = tree_of(tree);
    // The ranks of one "efsdp" group have the same experts, which "ep" has cut out along these axes.
    const bool cuts_further = text_of(axis, "axis") == "efsdp";
    self.shard(parameter_of(self, module, index), axes_of(axis), dim, offset, length, cuts_further);
  });
}

titan_error* get_part(const titan_tree* tree, titan_module module, std::uint32_t index, std::int64_t* offsets,
                      std::int64_t* sizes) {
  return guarded([&] {
    require_pointer(offsets, "offsets");
    require_pointer(sizes, "sizes");
    const Box& part = parameter_of(tree_of(tree), module, index).part;
    std::copy(part.offset.begin(), part.offset.end(), offsets);
    std::copy(part.size.begin(), part.size.end(), sizes);
  });
}

titan_error* declare_gradient(titan_tree* tree, titan_module module, std::uint32_t index, titan_string axis,
                              std::int32_t state) {
  return guarded([&] {
    Tree& self = tree_of(tree);
    self.declare_gradient(parameter_of(self, module, index), axes_of(axis), state);
  });
}

titan_error* mark_gradient(titan_tree* tree, titan_module module, std::uint32_t index, titan_string axis,
                           std::int32_t state) {
  return guarded([&] {
    Tree& self = tree_of(tree);
    self.mark_gradient(parameter_of(self, module, index), axes_of(axis), state);
  });
}

titan_error* take_over(titan_tree* tree, titan_module module, std::uint32_t index, std::int32_t forms) {
  return guarded([&] {
    Tree& self = tree_of(tree);
    self.take_over(parameter_of(self, module, index), forms);
  });
}

titan_error* keep_chain(titan_tree* tree, const titan_stage* stages, std::uint32_t num_stages) {
  return guarded([&] {
    if (num_stages > 0) require_pointer(stages, "stages");
    std::vector<Stage> kept;
    for (std::uint32_t i = 0; i < num_stages; ++i) kept.push_back({stages[i].index, stages[i].first, stages[i].count});
    tree_of(tree).keep_chain(std::move(kept));
  });
}

std::int32_t is_kept(const titan_tree* tree, titan_module module, std::uint32_t index) {
  if (tree == nullptr) return 0;
  const auto& self = *reinterpret_cast<const Tree*>(tree);
  if (module >= self.num_modules() || index >= self.parameters(module).size()) return 0;
  return self.is_kept(*self.parameters(module)[index]) ? 1 : 0;
}

at::Tensor& box_of(Parameter& parameter, std::int32_t box) {
  switch (box) {
    case TITAN_BOX_STORAGE:
      return parameter.storage;
    case TITAN_BOX_COMPUTE:
      return parameter.compute;
    case TITAN_BOX_GRADIENT:
      return parameter.gradient;
    default:
      throw PluginError("[", parameter.name, "] unknown tensor of a parameter: number ", box);
  }
}

titan_error* get_box(titan_tree* tree, titan_module module, std::uint32_t index, std::int32_t box, titan_tensor* out) {
  return guarded([&] {
    require_pointer(out, "out");
    *out = handle::release(box_of(parameter_of(tree_of(tree), module, index), box));
  });
}

/// The form that has to be taken over before the box can be set.
std::int32_t form_of(const Parameter& parameter, std::int32_t box) {
  if (box == TITAN_BOX_STORAGE) {
    throw PluginError("[", parameter.name, "] its storage cannot be replaced: write into it without recording");
  }
  return box == TITAN_BOX_COMPUTE ? TITAN_OWN_COMPUTE : TITAN_OWN_GRADIENT;
}

titan_error* set_box(titan_tree* tree, titan_module module, std::uint32_t index, std::int32_t box, titan_tensor value) {
  return guarded([&] {
    Parameter& parameter = parameter_of(tree_of(tree), module, index);
    at::Tensor& place = box_of(parameter, box);
    if ((parameter.owned_forms & form_of(parameter, box)) == 0) {
      throw PluginError("[", parameter.name, "] this tensor is the host's, take_over was not called: number ", box);
    }
    place = handle::borrow(value);
  });
}

titan_error* precision(const titan_tree* tree, std::int32_t* storage, std::int32_t* compute, std::int32_t* reduce) {
  return guarded([&] {
    require_pointer(storage, "storage");
    require_pointer(compute, "compute");
    require_pointer(reduce, "reduce");
    const Precision& policy = tree_of(tree).precision();
    *storage = tensor::abi_dtype(policy.storage);
    *compute = tensor::abi_dtype(policy.compute);
    *reduce = tensor::abi_dtype(policy.reduce);
  });
}

titan_error* random_state(const titan_tree* tree, titan_tensor* out) {
  return guarded([&] {
    require_pointer(out, "out");
    *out = handle::release(tree_of(tree).random_state());
  });
}

titan_error* set_random_state(titan_tree* tree, titan_tensor state) {
  return guarded([&] {
    require_pointer(state, "state");
    tree_of(tree).set_random_state(handle::borrow(state));
  });
}

}  // namespace

void add_placement_functions(titan_tree_v1& table) {
  table.shard = shard;
  table.get_part = get_part;
  table.declare_gradient = declare_gradient;
  table.mark_gradient = mark_gradient;
  table.take_over = take_over;
  table.get_box = get_box;
  table.set_box = set_box;
  table.precision = precision;
  table.keep_chain = keep_chain;
  table.is_kept = is_kept;
  table.random_state = random_state;
  table.set_random_state = set_random_state;
}

}  // namespace titan::nn
