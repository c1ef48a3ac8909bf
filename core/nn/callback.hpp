#pragma once

#include <string>

#include "core/nn/tree.hpp"

namespace titan::nn {

/// A plugin's forward callback with what it runs on.
struct Callback {
  titan_forward_fn forward;
  void* self;
  const char* plugin;         // for the fatal-signal handler; may be null
  const std::string* module;  // the fully qualified name
};

/// Calls a plugin. Its error is thrown with the module's name in front and the code it gave; an escaped exception and
/// an output left unset become PluginErrors.
Tensors run_callback(const Callback& callback, Frame& frame, const Tensors& in);

/// Attaches a plugin's interceptor, which declares TITAN_AROUND_* bits of itself; `destroy(self)` (may be null) runs
/// with the tree. When this throws, `self` stays the caller's.
void attach_callback(Tree& tree, ModuleId module, std::int32_t priority, std::uint32_t declared, titan_around_fn around,
                     void* self, void (*destroy)(void*));

}  // namespace titan::nn
