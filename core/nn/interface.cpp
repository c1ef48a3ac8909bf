#include <algorithm>
#include <cstring>

#include "core/base/error.hpp"
#include "core/nn/callback.hpp"
#include "core/nn/interface_arguments.hpp"
#include "core/nn/tree.hpp"
#include "core/tensor/guard.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::nn {
namespace {

using tensor::guarded;

const Tree* readable(const titan_tree* tree) { return reinterpret_cast<const Tree*>(tree); }

Frame& frame_of(titan_frame* frame) {
  if (frame == nullptr) throw PluginError("[tree] the frame is NULL");
  return *reinterpret_cast<Frame*>(frame);
}

bool has_module(const titan_tree* tree, titan_module module) {
  return tree != nullptr && module < readable(tree)->num_modules();
}

Attribute attribute_of(const titan_attribute& attribute) {
  switch (attribute.kind) {
    case TITAN_ATTRIBUTE_INT:
      return attribute.integer;
    case TITAN_ATTRIBUTE_FLOAT:
      return attribute.floating;
    case TITAN_ATTRIBUTE_STRING:
      return std::string(text_of(attribute.string, "attribute"));
    default:
      throw PluginError("[tree] unknown attribute kind: number ", attribute.kind);
  }
}

titan_error* add_leaf(titan_tree* tree, titan_module parent, titan_string name, titan_string kind,
                      const titan_attribute* attributes, std::uint32_t num_attributes, titan_module* out) {
  return guarded([&] {
    require_pointer(out, "out");
    if (num_attributes > 0) require_pointer(attributes, "attributes");
    std::map<std::string, Attribute> values;
    for (std::uint32_t i = 0; i < num_attributes; ++i) {
      const auto key = text_of(attributes[i].key, "attribute key");
      if (!values.emplace(key, attribute_of(attributes[i])).second) {
        throw PluginError("[", printable(text_of(name, "name")), "] attribute is given twice: ", printable(key));
      }
    }
    *out = tree_of(tree).add_leaf(parent, text_of(name, "name"), text_of(kind, "kind"), std::move(values));
  });
}

titan_error* add_custom(titan_tree* tree, titan_module parent, titan_string name, titan_forward_fn forward, void* self,
                        void (*destroy)(void*), titan_module* out) {
  return guarded([&] {
    require_pointer(out, "out");
    *out = tree_of(tree).add_custom(parent, text_of(name, "name"), forward, self, destroy);
  });
}

titan_error* add_parameter(titan_tree* tree, titan_module module, const titan_parameter* parameter) {
  return guarded([&] {
    require_pointer(parameter, "parameter");
    if (!TITAN_HAS(parameter, high)) {
      throw PluginError("[tree] titan_parameter is shorter than its first release: ", parameter->struct_size);
    }
    tree_of(tree).add_parameter(module, *parameter);
  });
}

titan_error* share_parameter(titan_tree* tree, titan_module module, titan_string name, titan_module owner,
                             std::uint32_t index) {
  return guarded([&] { tree_of(tree).share_parameter(module, text_of(name, "name"), owner, index); });
}

titan_error* add_to_chain(titan_tree* tree, titan_module module, std::uint32_t inputs) {
  return guarded([&] { tree_of(tree).add_to_chain(module, inputs); });
}

titan_error* set_loss(titan_tree* tree, titan_module module) {
  return guarded([&] { tree_of(tree).set_loss(module); });
}

Tensors borrowed(const titan_tensor* in, std::uint32_t num_in, const std::string& module) {
  if (num_in > 0) require_pointer(in, "in");
  Tensors tensors;
  tensors.reserve(num_in);
  for (std::uint32_t i = 0; i < num_in; ++i) {
    if (in[i] == nullptr) throw PluginError("[", module, "] an input is NULL: number ", i);
    tensors.push_back(handle::borrow(in[i]));
  }
  return tensors;
}

void give(Tensors&& tensors, titan_tensor* out, std::uint32_t num_out, const std::string& module) {
  if (tensors.size() != num_out) {
    throw PluginError("[", module, "] wrong number of outputs: gives ", tensors.size(), ", asked for ", num_out);
  }
  for (at::Tensor& tensor : tensors) *out++ = handle::release(std::move(tensor));
}

/// Throws unless `module` stands below `ancestor`: a module that could call itself would never return.
void require_below(const Tree& tree, titan_module module, titan_module ancestor) {
  titan_module above = module;
  while (above != TITAN_MODULE_ROOT) {
    above = tree.parent(above);
    if (above == ancestor) return;
  }
  throw PluginError("[", tree.name(ancestor), "] can call only modules below it: asked for ", tree.name(module));
}

titan_error* call(titan_frame* frame, titan_module module, const titan_tensor* in, std::uint32_t num_in,
                  titan_tensor* out, std::uint32_t num_out) {
  return guarded([&] {
    Frame& caller = frame_of(frame);
    Tree& tree = caller.tree();
    const std::string& name = tree.name(module);
    if (num_out > 0) require_pointer(out, "out");
    require_below(tree, module, caller.module());
    give(tree.call(module, borrowed(in, num_in, name), &caller, num_out), out, num_out, name);
  });
}

std::uint32_t num_modules(const titan_tree* tree) {
  return tree == nullptr ? 0 : static_cast<std::uint32_t>(readable(tree)->num_modules());
}

titan_string module_name(const titan_tree* tree, titan_module module) {
  return has_module(tree, module) ? abi_text(readable(tree)->name(module)) : titan_string{nullptr, 0};
}

titan_string module_kind(const titan_tree* tree, titan_module module) {
  return has_module(tree, module) ? abi_text(readable(tree)->kind(module)) : titan_string{nullptr, 0};
}

titan_module module_parent(const titan_tree* tree, titan_module module) {
  return has_module(tree, module) ? readable(tree)->parent(module) : TITAN_MODULE_ROOT;
}

std::uint32_t num_parameters(const titan_tree* tree, titan_module module) {
  return has_module(tree, module) ? static_cast<std::uint32_t>(readable(tree)->parameters(module).size()) : 0;
}

titan_error* parameter_at(const titan_tree* tree, titan_module module, std::uint32_t index, titan_parameter* out) {
  return guarded([&] {
    require_pointer(tree, "tree");
    require_pointer(out, "out");
    const Tree& self = *readable(tree);
    const Parameter& found = parameter_of(self, module, index);
    const std::string& name = self.parameter_names(module)[index];
    const std::uint32_t size = out->struct_size;
    titan_parameter filled{};
    filled.struct_size = size;
    filled.num_dims = static_cast<std::uint32_t>(found.shape.size());
    filled.name = abi_text(name);
    filled.shape = found.shape.data();
    filled.split = found.split;
    filled.init = found.init.kind;
    filled.value = found.init.value;
    filled.mean = found.init.mean;
    filled.std = found.init.std;
    filled.low = found.init.low;
    filled.high = found.init.high;
    std::memcpy(out, &filled, std::min<std::size_t>(size, sizeof filled));
  });
}

titan_error* parameter_owner(const titan_tree* tree, titan_module module, std::uint32_t index, titan_module* owner,
                             std::uint32_t* owner_index) {
  return guarded([&] {
    require_pointer(owner, "owner");
    require_pointer(owner_index, "owner_index");
    const Tree& self = tree_of(tree);
    const Parameter& found = parameter_of(self, module, index);
    const auto& own = self.parameters(found.owner);
    *owner = found.owner;
    *owner_index = static_cast<std::uint32_t>(std::find(own.begin(), own.end(), &found) - own.begin());
  });
}

std::uint32_t chain_size(const titan_tree* tree) {
  return tree == nullptr ? 0 : static_cast<std::uint32_t>(readable(tree)->chain().size());
}

titan_module chain_block(const titan_tree* tree, std::uint32_t index) {
  return index < chain_size(tree) ? readable(tree)->chain()[index] : TITAN_MODULE_ROOT;
}

titan_error* attach(titan_tree* tree, titan_module module, std::int32_t priority, titan_around_fn around, void* self,
                    void (*destroy)(void*)) {
  return guarded([&] {
    require_pointer(around, "around");
    attach_callback(tree_of(tree), module, priority, 0, around, self, destroy);
  });
}

titan_error* attach_declared(titan_tree* tree, titan_module module, std::int32_t priority, std::uint32_t declared,
                             titan_around_fn around, void* self, void (*destroy)(void*)) {
  return guarded([&] {
    require_pointer(around, "around");
    attach_callback(tree_of(tree), module, priority, declared, around, self, destroy);
  });
}

void require_of_call(const titan_next& next, const Frame& frame) {
  if (next.tree == reinterpret_cast<titan_tree*>(&frame.tree()) && next.module == frame.module()) return;
  throw PluginError("[", frame.tree().name(frame.module()), "] next belongs to another call");
}

titan_error* run_next(titan_frame* frame, titan_next next, const titan_tensor* in, std::uint32_t num_in,
                      titan_tensor* out, std::uint32_t num_out) {
  return guarded([&] {
    if (frame != nullptr) require_of_call(next, frame_of(frame));
    Tree& tree = tree_of(next.tree);
    const std::string& name = tree.name(next.module);
    if (num_out > 0) require_pointer(out, "out");
    Frame later(tree, next.module, Phase::training, num_out);
    Frame& running = frame != nullptr ? frame_of(frame) : later;
    give(Next{next.index}(running, borrowed(in, num_in, name)), out, num_out, name);
  });
}

titan_error* recompute(titan_next next, const titan_tensor* in, std::uint32_t num_in, titan_tensor* out,
                       std::uint32_t num_out) {
  return guarded([&] {
    Tree& tree = tree_of(next.tree);
    const std::string& name = tree.name(next.module);
    if (num_out > 0) require_pointer(out, "out");
    give(tree.recompute(next.module, Next{next.index}, borrowed(in, num_in, name), num_out), out, num_out, name);
  });
}

/// What a memo is kept in: the caller's frame, or its own where nobody called.
Memo& memo_of(titan_frame* frame) {
  Frame& running = frame_of(frame);
  return running.parent() != nullptr ? running.parent()->memo() : running.memo();
}

titan_error* memo_get(titan_frame* frame, titan_string purpose, titan_tensor source, titan_tensor* out) {
  return guarded([&] {
    require_pointer(out, "out");
    require_pointer(source, "source");
    const at::Tensor* known = memo_of(frame).find(text_of(purpose, "purpose"), handle::borrow(source));
    *out = known == nullptr ? nullptr : handle::release(at::Tensor(*known));
  });
}

titan_error* memo_put(titan_frame* frame, titan_string purpose, titan_tensor source, titan_tensor value) {
  return guarded([&] {
    require_pointer(source, "source");
    require_pointer(value, "value");
    memo_of(frame).put(text_of(purpose, "purpose"), handle::borrow(source), handle::borrow(value));
  });
}

std::int32_t frame_phase(const titan_frame* frame) {
  return static_cast<std::int32_t>(frame == nullptr ? Phase::training : reinterpret_cast<const Frame*>(frame)->phase());
}

titan_error* module_attribute(const titan_tree* tree, titan_module module, titan_string key, titan_attribute* out) {
  return guarded([&] {
    require_pointer(out, "out");
    *out = {key, 0, 0, 0, 0, {nullptr, 0}};
    const Attribute* found = tree_of(tree).attribute(module, text_of(key, "key"));
    if (found == nullptr) return;
    if (const auto* integer = std::get_if<std::int64_t>(found)) {
      out->kind = TITAN_ATTRIBUTE_INT;
      out->integer = *integer;
    } else if (const auto* floating = std::get_if<double>(found)) {
      out->kind = TITAN_ATTRIBUTE_FLOAT;
      out->floating = *floating;
    } else {
      out->kind = TITAN_ATTRIBUTE_STRING;
      out->string = abi_text(std::get<std::string>(*found));
    }
  });
}

titan_module loss_module(const titan_tree* tree) {
  return tree == nullptr ? TITAN_MODULE_ROOT : readable(tree)->loss_module().value_or(TITAN_MODULE_ROOT);
}

titan_module frame_module(const titan_frame* frame) {
  return frame == nullptr ? TITAN_MODULE_ROOT : reinterpret_cast<const Frame*>(frame)->module();
}

}  // namespace

const titan_tree_v1* tree_interface() {
  static const titan_tree_v1 table = [] {
    titan_tree_v1 made{};
    made.struct_size = sizeof made;
    made.add_leaf = add_leaf;
    made.add_custom = add_custom;
    made.add_parameter = add_parameter;
    made.share_parameter = share_parameter;
    made.parameter_owner = parameter_owner;
    made.add_to_chain = add_to_chain;
    made.set_loss = set_loss;
    made.call = call;
    made.num_modules = num_modules;
    made.module_name = module_name;
    made.module_kind = module_kind;
    made.module_parent = module_parent;
    made.num_parameters = num_parameters;
    made.parameter = parameter_at;
    made.chain_size = chain_size;
    made.chain_block = chain_block;
    made.attach = attach;
    made.attach_declared = attach_declared;
    made.next = run_next;
    made.frame_module = frame_module;
    made.module_attribute = module_attribute;
    made.loss_module = loss_module;
    made.memo_get = memo_get;
    made.memo_put = memo_put;
    made.frame_phase = frame_phase;
    made.recompute = recompute;
    add_placement_functions(made);
    return made;
  }();
  return &table;
}

}  // namespace titan::nn
