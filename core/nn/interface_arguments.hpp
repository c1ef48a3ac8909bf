#pragma once

#include <string_view>

#include "core/base/error.hpp"
#include "core/nn/tree.hpp"
#include "titan/abi/tree.h"

namespace titan::nn {

/// The tree behind a handle. PluginError for NULL.
inline Tree& tree_of(titan_tree* tree) {
  if (tree == nullptr) throw PluginError("[tree] the tree is NULL");
  return *reinterpret_cast<Tree*>(tree);
}
inline const Tree& tree_of(const titan_tree* tree) { return tree_of(const_cast<titan_tree*>(tree)); }

/// The text; `what` names it in the PluginError for an absent one.
inline std::string_view text_of(titan_string text, const char* what) {
  if (text.data == nullptr) throw PluginError("[tree] a text is NULL: ", what);
  return {text.data, text.size};
}

inline titan_string abi_text(std::string_view text) { return {text.data(), text.size()}; }

template <class Pointer>
void require_pointer(Pointer pointer, const char* what) {
  if (pointer == nullptr) throw PluginError("[tree] a pointer is NULL: ", what);
}

/// Parameter `index` of a module. PluginError names the module when there is none.
inline Parameter& parameter_of(const Tree& tree, titan_module module, std::uint32_t index) {
  const auto& parameters = tree.parameters(module);
  if (index >= parameters.size()) throw PluginError("[", tree.name(module), "] no such parameter: number ", index);
  return *parameters[index];
}

/// Adds what strategies use to the table.
void add_placement_functions(titan_tree_v1& table);

}  // namespace titan::nn
