#include "plugins/observability/memory/run_state.hpp"

#include <c10/core/ScalarType.h>

#include "titan/torch/tensor.hpp"

namespace titan::observability {
namespace {

std::uint64_t element_bytes(std::int32_t dtype) {
  switch (dtype) {
    case TITAN_BFLOAT16:
      return 2;
    case TITAN_FLOAT64:
      return 8;
    default:
      return 4;
  }
}

void add_tensor(StateBlocks& blocks, std::int32_t kind, titan_string name, titan_tensor handle) {
  const at::Tensor tensor = handle::borrow(handle);
  if (!tensor.defined() || !tensor.has_storage()) return;
  const c10::Storage& storage = tensor.storage();
  const std::string_view suffix = kind == TITAN_STATE_COMPUTE ? " (compute form)" : "";
  blocks.add(reinterpret_cast<std::uintptr_t>(storage.data()), storage.nbytes(), kind_of_state(kind),
             sdk::concat(sdk::view(name), suffix));
}

}  // namespace

RunState::RunState(const sdk::GuardHandles& handles)
    : handles_(handles),
      control_(handles.host.require<titan_control_v1>(TITAN_CONTROL_V1)),
      tree_(handles.host.require<titan_tree_v1>(TITAN_TREE_V1)) {
  for (std::uint32_t i = 0; i < tree_->chain_size(handles_.tree); ++i) {
    chain_.emplace_back(sdk::view(tree_->module_name(handles_.tree, tree_->chain_block(handles_.tree, i))));
  }
}

StateBlocks RunState::blocks() const {
  StateBlocks blocks;
  handles_.host.check(control_->visit_state(handles_.control, &blocks,
                                            [](void* self, std::int32_t kind, titan_string name, titan_tensor tensor) {
                                              add_tensor(*static_cast<StateBlocks*>(self), kind, name, tensor);
                                            }));
  return blocks;
}

std::uint64_t RunState::parameter_bytes() const {
  std::int32_t storage = 0, compute = 0, reduce = 0;
  handles_.host.check(tree_->precision(handles_.tree, &storage, &compute, &reduce));
  std::uint64_t elements = 0;
  for (titan_module module = 0; module < tree_->num_modules(handles_.tree); ++module) {
    for (std::uint32_t i = 0; i < tree_->num_parameters(handles_.tree, module); ++i) {
      titan_module owner = module;
      std::uint32_t owner_index = i;
      handles_.host.check(tree_->parameter_owner(handles_.tree, module, i, &owner, &owner_index));
      const bool is_elsewhere = owner != module || owner_index != i || tree_->is_kept(handles_.tree, module, i) == 0;
      if (is_elsewhere) continue;
      titan_parameter parameter{};
      parameter.struct_size = sizeof parameter;
      handles_.host.check(tree_->parameter(handles_.tree, module, i, &parameter));
      std::vector<std::int64_t> offsets(parameter.num_dims), sizes(parameter.num_dims);
      handles_.host.check(tree_->get_part(handles_.tree, module, i, offsets.data(), sizes.data()));
      std::uint64_t count = 1;
      for (const std::int64_t size : sizes) count *= static_cast<std::uint64_t>(size);
      elements += count;
    }
  }
  return elements * element_bytes(storage);
}

titan_place RunState::place() const noexcept {
  titan_place place{};
  place.struct_size = sizeof place;
  control_->place(handles_.control, &place);
  return place;
}

ModuleNames RunState::module_names() const {
  ModuleNames names;
  for (titan_module module = 0; module < tree_->num_modules(handles_.tree); ++module) {
    names.emplace_back(sdk::view(tree_->module_name(handles_.tree, module)));
  }
  return names;
}

double RunState::share_through(std::string_view module) const {
  for (std::size_t i = 0; i < chain_.size(); ++i) {
    const bool is_inside =
        module.starts_with(chain_[i]) && (module.size() == chain_[i].size() || module[chain_[i].size()] == '.');
    if (is_inside) return static_cast<double>(i + 1) / static_cast<double>(chain_.size());
  }
  return 0;
}

}  // namespace titan::observability
