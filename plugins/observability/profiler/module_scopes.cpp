#include "plugins/observability/profiler/module_scopes.hpp"

#include <ATen/record_function.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "titan/torch/error.hpp"

namespace titan::observability {

/// One module's interceptor.
struct ModuleScopes::Scope {
  std::shared_ptr<ModuleScopes> shared;
  titan_module module;

  static titan_error* around(void* self, titan_frame* frame, titan_next next, const titan_tensor* in,
                             std::uint32_t num_in, titan_tensor* out, std::uint32_t num_out) noexcept {
    auto& [shared, module] = *static_cast<Scope*>(self);
    if (!shared->recording_) return shared->table_->next(frame, next, in, num_in, out, num_out);
    const bool is_recomputed = shared->table_->frame_phase(frame) == TITAN_PHASE_RECOMPUTATION;
    at::RecordFunction record(at::RecordScope::USER_SCOPE);
    record.before((is_recomputed ? shared->recomputed_names_ : shared->names_)[module].c_str());
    shared->listener_->module_edge();
    titan_error* error = shared->table_->next(frame, next, in, num_in, out, num_out);
    shared->listener_->module_edge();
    return error;
  }
  static void destroy(void* self) noexcept { delete static_cast<Scope*>(self); }
};

std::shared_ptr<ModuleScopes> ModuleScopes::attach(sdk::Host host, titan_tree* tree, Listener& listener) {
  auto shared = std::make_shared<ModuleScopes>();
  const auto* table = host.require<titan_tree_v1>(TITAN_TREE_V1);
  shared->table_ = table;
  shared->listener_ = &listener;
  const std::uint32_t count = table->num_modules(tree);
  for (titan_module module = 0; module < count; ++module) {
    const std::string& name = shared->names_.emplace_back(sdk::view(table->module_name(tree, module)));
    shared->recomputed_names_.push_back(name + " (recomputed)");
    shared->parents_.push_back(table->module_parent(tree, module));
  }
  constexpr std::int32_t kOutermost = std::numeric_limits<std::int32_t>::min();
  for (titan_module module = TITAN_MODULE_ROOT + 1; module < count; ++module) {
    auto scope = std::make_unique<Scope>(Scope{shared, module});
    constexpr std::uint32_t kDeclared = TITAN_AROUND_ANY_OUTPUTS | TITAN_AROUND_SKIPPABLE;
    host.check(
        TITAN_HAS(table, attach_declared)
            ? table->attach_declared(tree, module, kOutermost, kDeclared, &Scope::around, scope.get(), &Scope::destroy)
            : table->attach(tree, module, kOutermost, &Scope::around, scope.get(), &Scope::destroy));
    // The tree owns it from here on.
    static_cast<void>(scope.release());
  }
  return shared;
}

std::vector<titan_module> ModuleScopes::lineage(titan_module module) const {
  std::vector<titan_module> found;
  for (; module != TITAN_MODULE_ROOT; module = parents_.at(module)) found.push_back(module);
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace titan::observability
