#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "titan/abi/tree.h"
#include "titan/sdk/strategy.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::strategy {

/// What a parameter's gradient is along a mesh axis: see TITAN_GRADIENT_*.
enum class Gradient : std::int32_t {
  equal = TITAN_GRADIENT_EQUAL,
  partial = TITAN_GRADIENT_PARTIAL,
  sharded = TITAN_GRADIENT_SHARDED
};

/// What of a parameter a strategy looks after instead of the host; see TITAN_OWN_*.
enum class Form : std::int32_t {
  compute = TITAN_OWN_COMPUTE,
  gradient = TITAN_OWN_GRADIENT,
  both = TITAN_OWN_COMPUTE | TITAN_OWN_GRADIENT
};

/// This rank's part of a parameter: first index and number of indices in each dim.
struct Part {
  std::vector<std::int64_t> offsets, sizes;
};

/// The precision policy of the run.
struct Precision {
  at::ScalarType storage, compute, reduce;
};

namespace tree_detail {
/// The host's table and whose tree it is; what all views of a tree share.
struct Source {
  sdk::Host host;
  const titan_tree_v1* table;
  titan_tree* tree;
};

inline at::ScalarType scalar_type(std::int32_t dtype) {
  switch (dtype) {
    case TITAN_FLOAT64:
      return at::kDouble;
    case TITAN_FLOAT32:
      return at::kFloat;
    case TITAN_BFLOAT16:
      return at::kBFloat16;
    case TITAN_FLOAT16:
      return at::kHalf;
    default:
      throw sdk::InternalError("[tree] a precision that is not a floating-point type: number ", dtype);
  }
}
}  // namespace tree_detail

/// A parameter of the tree. A reference: copy freely; lives as long as the tree; training thread.
class Parameter {
 public:
  Parameter(const tree_detail::Source& source, titan_module module, std::uint32_t index)
      : source_(source), module_(module), index_(index) {}

  /// Fully qualified: "layers.0.attention.wq.weight".
  std::string name() const {
    const std::string_view module = sdk::view(source_.table->module_name(source_.tree, module_));
    return sdk::concat(module, module.empty() ? "" : ".", sdk::view(declaration().name));
  }
  /// Of the whole parameter, whatever the layout.
  std::vector<std::int64_t> shape() const {
    const titan_parameter data = declaration();
    return {data.shape, data.shape + data.num_dims};
  }
  /// How tensor parallelism may split it: TITAN_SPLIT_*.
  std::int32_t split() const { return declaration().split; }
  /// Whether it has tensors on this rank: false for parameters of other pipeline stages.
  bool is_kept() const { return source_.table->is_kept(source_.tree, module_, index_) != 0; }
  Part part() const {
    Part found{std::vector<std::int64_t>(declaration().num_dims), std::vector<std::int64_t>(declaration().num_dims)};
    check(source_.table->get_part(source_.tree, module_, index_, found.offsets.data(), found.sizes.data()));
    return found;
  }

  // In apply() only.
  /// Narrows this rank's part along `dim` to `length` indices from `offset`, counted inside the part so far.
  void shard(std::string_view axis, std::int64_t dim, std::int64_t offset, std::int64_t length) const {
    check(source_.table->shard(source_.tree, module_, index_, sdk::borrow(axis), dim, offset, length));
  }
  /// Says what its gradient is after backward.
  void declare_gradient(std::string_view axis, Gradient state) const {
    check(source_.table->declare_gradient(source_.tree, module_, index_, sdk::borrow(axis),
                                          static_cast<std::int32_t>(state)));
  }
  void take_over(Form forms) const {
    check(source_.table->take_over(source_.tree, module_, index_, static_cast<std::int32_t>(forms)));
  }

  /// Says, during a step, that a reduction was done.
  void mark_gradient(std::string_view axis, Gradient state) const {
    check(source_.table->mark_gradient(source_.tree, module_, index_, sdk::borrow(axis),
                                       static_cast<std::int32_t>(state)));
  }

  /// This rank's part in storage dtype: what the optimizer sees.
  at::Tensor storage() const { return box(TITAN_BOX_STORAGE); }
  /// What forward sees, in compute dtype. Undefined before somebody made it.
  at::Tensor compute() const { return box(TITAN_BOX_COMPUTE); }
  /// Of this rank's part, in reduce dtype. Undefined before the first backward of a step.
  at::Tensor gradient() const { return box(TITAN_BOX_GRADIENT); }
  /// For forms that were taken over; an undefined tensor clears.
  void set_compute(const at::Tensor& value) const { set_box(TITAN_BOX_COMPUTE, value); }
  void set_gradient(const at::Tensor& value) const { set_box(TITAN_BOX_GRADIENT, value); }

 private:
  void check(titan_error* error) const { source_.host.check(error); }
  titan_parameter declaration() const {
    titan_parameter data{};
    data.struct_size = sizeof data;
    check(source_.table->parameter(source_.tree, module_, index_, &data));
    return data;
  }
  at::Tensor box(std::int32_t which) const {
    titan_tensor out = nullptr;
    check(source_.table->get_box(source_.tree, module_, index_, which, &out));
    return handle::own(out);
  }
  void set_box(std::int32_t which, const at::Tensor& value) const {
    check(source_.table->set_box(source_.tree, module_, index_, which, handle::lend(value)));
  }

  tree_detail::Source source_;
  titan_module module_;
  std::uint32_t index_;
};

/// A module of the tree. A reference: copy freely; lives as long as the tree.
class Module {
 public:
  Module(const tree_detail::Source& source, titan_module id) : source_(source), id_(id) {}

  titan_module id() const { return id_; }
  /// Fully qualified: "layers.0.attention"; empty for the root.
  std::string_view name() const { return sdk::view(source_.table->module_name(source_.tree, id_)); }
  /// A leaf kind ("titan.linear"), or "custom".
  std::string_view kind() const { return sdk::view(source_.table->module_kind(source_.tree, id_)); }
  bool is_root() const { return id_ == TITAN_MODULE_ROOT; }
  Module parent() const { return {source_, source_.table->module_parent(source_.tree, id_)}; }
  /// The module and those above it, innermost first, without the root.
  std::vector<Module> lineage() const {
    std::vector<Module> found;
    for (Module module = *this; !module.is_root(); module = module.parent()) found.push_back(module);
    return found;
  }
  /// Whether it is `other` or stands inside it.
  bool is_in(const Module& other) const {
    for (const Module& module : lineage()) {
      if (module.id() == other.id()) return true;
    }
    return false;
  }
  /// A whole-number attribute of a leaf; `fallback` where it was not given.
  std::int64_t integer(std::string_view key, std::int64_t fallback) const {
    const titan_attribute found = attribute(key);
    return found.kind == TITAN_ATTRIBUTE_INT ? found.integer : fallback;
  }
  double number(std::string_view key, double fallback) const {
    const titan_attribute found = attribute(key);
    if (found.kind == TITAN_ATTRIBUTE_INT) return static_cast<double>(found.integer);
    return found.kind == TITAN_ATTRIBUTE_FLOAT ? found.floating : fallback;
  }
  std::string_view text(std::string_view key, std::string_view fallback) const {
    const titan_attribute found = attribute(key);
    return found.kind == TITAN_ATTRIBUTE_STRING ? sdk::view(found.string) : fallback;
  }
  /// Of the module itself, without its children and without shared ones, on whichever pipeline stage.
  std::vector<Parameter> parameters() const { return parameters(true); }
  /// Parameters of other modules that this one uses too (tied weights), under their owners' names.
  std::vector<Parameter> shared_parameters() const { return parameters(false); }

 private:
  std::vector<Parameter> parameters(bool own) const {
    std::vector<Parameter> found;
    const std::uint32_t count = source_.table->num_parameters(source_.tree, id_);
    for (std::uint32_t i = 0; i < count; ++i) {
      titan_module owner = id_;
      std::uint32_t index = i;
      source_.host.check(source_.table->parameter_owner(source_.tree, id_, i, &owner, &index));
      if ((owner == id_) == own) found.emplace_back(source_, owner, index);
    }
    return found;
  }
  titan_attribute attribute(std::string_view key) const {
    titan_attribute found{};
    source_.host.check(source_.table->module_attribute(source_.tree, id_, sdk::borrow(key), &found));
    return found;
  }

  tree_detail::Source source_;
  titan_module id_;
};

/// One rank's module tree as a strategy sees it. A reference: copy freely; training thread.
class Tree {
 public:
  Tree(const sdk::TreeHandle& handle)  // NOLINT(google-explicit-constructor): what apply() receives
      : source_{handle.host, handle.host.require<titan_tree_v1>(TITAN_TREE_V1), handle.tree},
        priority_(handle.priority) {
    if (!TITAN_HAS(source_.table, parameter_owner)) {
      throw sdk::AbiError("[tree] the host is too old for strategies: its titan.tree/1 is older than 0.3");
    }
  }

  /// All modules but the root, parents before their children.
  std::vector<Module> modules() const {
    std::vector<Module> found;
    const std::uint32_t count = source_.table->num_modules(source_.tree);
    for (titan_module id = 1; id < count; ++id) found.emplace_back(source_, id);
    return found;
  }
  /// The chain's blocks, in order.
  std::vector<Module> chain() const {
    std::vector<Module> found;
    const std::uint32_t count = source_.table->chain_size(source_.tree);
    for (std::uint32_t i = 0; i < count; ++i) found.emplace_back(source_, source_.table->chain_block(source_.tree, i));
    return found;
  }
  Precision precision() const {
    std::int32_t storage = 0, compute = 0, reduce = 0;
    source_.host.check(source_.table->precision(source_.tree, &storage, &compute, &reduce));
    return {tree_detail::scalar_type(storage), tree_detail::scalar_type(compute), tree_detail::scalar_type(reduce)};
  }

  /// The loss module; the root where there is none.
  Module loss_module() const { return {source_, source_.table->loss_module(source_.tree)}; }
  /// The same tree, for interceptors of another priority.
  Tree at_priority(std::int32_t priority) const {
    Tree other = *this;
    other.priority_ = priority;
    return other;
  }
  /// In apply(): this rank runs these stages of the chain only. See titan_tree_v1::keep_chain.
  void keep_chain(const std::vector<titan_stage>& stages) const {
    source_.host.check(
        source_.table->keep_chain(source_.tree, stages.data(), static_cast<std::uint32_t>(stages.size())));
  }
  /// The state of the rank's generator of random numbers, uint8.
  at::Tensor random_state() const {
    titan_tensor out = nullptr;
    source_.host.check(source_.table->random_state(source_.tree, &out));
    return handle::own(out);
  }
  void set_random_state(const at::Tensor& state) const {
    source_.host.check(source_.table->set_random_state(source_.tree, handle::lend(state)));
  }

  const tree_detail::Source& source() const { return source_; }
  /// Of the strategy's interceptors.
  std::int32_t priority() const { return priority_; }

 private:
  tree_detail::Source source_;
  std::int32_t priority_;
};

}  // namespace titan::strategy
