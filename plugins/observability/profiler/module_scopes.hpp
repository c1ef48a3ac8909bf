#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "titan/abi/tree.h"
#include "titan/sdk/host.hpp"

namespace titan::observability {

/// What the modules' interceptors share: they do nothing but look at the flag while nothing is recorded.
class ModuleScopes {
 public:
  /// Told at begin and end of each call while recording; training thread.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void module_edge() = 0;
  };

  /// Puts an interceptor around every module; they live as long as the tree.
  static std::shared_ptr<ModuleScopes> attach(sdk::Host host, titan_tree* tree, Listener& listener);

  /// Names a module's calls in the trace from now on, or no longer.
  void set_recording(bool recording) { recording_ = recording; }
  const std::string& name(titan_module module) const { return names_.at(module); }
  /// The module and those above it, outermost first, without the root.
  std::vector<titan_module> lineage(titan_module module) const;

 private:
  struct Scope;

  const titan_tree_v1* table_ = nullptr;
  Listener* listener_ = nullptr;
  bool recording_ = false;
  std::vector<std::string> names_, recomputed_names_;
  std::vector<titan_module> parents_;
};

}  // namespace titan::observability
