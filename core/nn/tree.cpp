#include "core/nn/tree.hpp"

#include <algorithm>

#include "core/base/breadcrumb.hpp"
#include "core/base/error.hpp"
#include "core/nn/tree_state.hpp"

namespace titan::nn {
namespace {

constexpr std::size_t kLongestName = 256;
constexpr std::string_view kCustom = "custom";
constexpr std::uint32_t kChainBits = TITAN_CHAIN_POSITIONS;
constexpr std::uint32_t kDeclaredBits = TITAN_AROUND_ANY_OUTPUTS | TITAN_AROUND_SKIPPABLE;

bool is_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-';
  };
  bool in_segment = false;
  for (const char c : name) {
    if (c == '.' ? !in_segment : !allowed(c)) return false;
    in_segment = c != '.';
  }
  return in_segment && name.size() <= kLongestName;
}

void check_parameters(const Module& module) {
  const auto rules = module.leaf->parameters();
  const auto& names = module.parameter_names;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const auto found = std::find(names.begin(), names.end(), rules[i].name);
    if (found == names.end()) throw PluginError("[", module.name, "] parameter is missing: ", rules[i].name);
    const auto place = static_cast<std::size_t>(found - names.begin());
    if (module.parameters[place]->shape.size() != rules[i].num_dims) {
      throw PluginError("[", module.name, "] parameter has the wrong number of dims: ", rules[i].name, " must have ",
                        rules[i].num_dims, ", has ", module.parameters[place]->shape.size());
    }
    // Leaves read their parameters by number.
    if (place != i) {
      throw PluginError("[", module.name, "] parameter is declared out of order: ", rules[i].name, " must be number ",
                        i, ", is number ", place);
    }
  }
  if (module.parameters.size() != rules.size()) {
    throw PluginError("[", module.name, "] wrong number of parameters: ", module.kind, " takes ", rules.size(),
                      ", declared are ", module.parameters.size());
  }
}

}  // namespace

Module& Tree::State::module(ModuleId id) {
  if (id >= modules.size()) throw PluginError("[tree] no such module: number ", id, ", there are ", modules.size());
  return modules[id];
}

std::string Tree::State::new_name(ModuleId parent, std::string_view name) {
  const std::string& prefix = module(parent).name;
  if (!is_name(name)) {
    throw PluginError("[", prefix, "] malformed name, letters, digits, '_', '-' and single dots are allowed: \"",
                      printable(name), '"');
  }
  std::string full = prefix.empty() ? std::string(name) : concat(prefix, '.', name);
  if (module_names.contains(full) || parameter_names.contains(full)) {
    throw PluginError("[", prefix, "] duplicate name: ", full);
  }
  return full;
}

ModuleId Tree::State::add(Module&& module) {
  const auto id = static_cast<ModuleId>(modules.size());
  modules.push_back(std::move(module));
  module_names.emplace(modules.back().name, id);
  return id;
}

void Tree::State::require_building() const {
  if (is_built || materialised) {
    throw PluginError("[tree] the tree is finished: nothing can be added once strategies place its parameters");
  }
}

Tree::Tree() : state_(std::make_unique<State>()) { state_->modules.emplace_back().kind = kCustom; }

Tree::~Tree() = default;

ModuleId Tree::add_leaf(ModuleId parent, std::string_view name, std::string_view kind,
                        std::map<std::string, Attribute> attributes) {
  state_->require_building();
  Module module;
  module.name = state_->new_name(parent, name);
  module.kind = kind;
  module.parent = parent;
  module.attributes = {attributes.begin(), attributes.end()};
  LeafSetup setup{module.name, Attributes(module.name, std::move(attributes)), state_->rope_tables};
  module.leaf = leaf_factory(kind, module.name)(setup);
  setup.attributes.finish();
  state_->add_buffers(module);
  return state_->add(std::move(module));
}

ModuleId Tree::add_custom(ModuleId parent, std::string_view name, titan_forward_fn callback, void* self,
                          void (*destroy)(void*)) {
  state_->require_building();
  Module module;
  module.name = state_->new_name(parent, name);
  module.kind = kCustom;
  module.parent = parent;
  if (callback == nullptr) throw PluginError("[", module.name, "] the forward callback is NULL");
  module.forward = callback;
  module.plugin = breadcrumb().plugin;
  const ModuleId id = state_->add(std::move(module));
  // Last: as long as this function may throw, `self` is the caller's.
  state_->modules[id].self = {self, destroy != nullptr ? destroy : [](void*) {}};
  return id;
}

void Tree::add_parameter(ModuleId module, const titan_parameter& declaration) {
  state_->require_building();
  if (declaration.name.data == nullptr)
    throw PluginError("[", state_->module(module).name, "] a parameter has no name");
  const std::string_view local(declaration.name.data, declaration.name.size);
  auto parameter = checked_parameter(state_->new_name(module, local), declaration);
  parameter->owner = module;
  state_->module(module).parameters.push_back(parameter.get());
  state_->module(module).parameter_names.emplace_back(local);
  state_->parameter_names.emplace(parameter->name, parameter.get());
  state_->parameters.push_back(std::move(parameter));
}

void Tree::share_parameter(ModuleId module, std::string_view name, ModuleId owner, std::size_t index) {
  state_->require_building();
  const Module& source = state_->module(owner);
  if (index >= source.parameters.size()) {
    throw PluginError("[", source.name, "] no such parameter to share: number ", index);
  }
  if (owner == module) throw PluginError("[", source.name, "] a module cannot share a parameter with itself");
  Parameter* shared = source.parameters[index];
  state_->parameter_names.emplace(state_->new_name(module, name), shared);
  state_->module(module).parameters.push_back(shared);
  state_->module(module).parameter_names.emplace_back(name);
}

void Tree::add_to_chain(ModuleId module, std::uint32_t inputs) {
  state_->require_building();
  const std::string& name = state_->module(module).name;
  if (module == TITAN_MODULE_ROOT) throw PluginError("[tree] the root cannot be a block of the chain");
  if ((inputs & ~kChainBits) != 0) throw PluginError("[", name, "] unknown bits in the chain's inputs: ", inputs);
  if (std::count(state_->chain.begin(), state_->chain.end(), module) > 0) {
    throw PluginError("[", name, "] is in the chain already");
  }
  state_->chain.push_back(module);
  state_->chain_inputs.push_back(inputs);
}

void Tree::set_loss(ModuleId module) {
  state_->require_building();
  const std::string& name = state_->module(module).name;
  if (module == TITAN_MODULE_ROOT) throw PluginError("[tree] the root cannot be the loss");
  if (state_->loss) throw PluginError("[", name, "] the loss is set already: ", state_->modules[*state_->loss].name);
  state_->loss = module;
}

void Tree::validate() const {
  if (state_->chain.empty()) throw PluginError("[tree] the model has no chain: add_to_chain was not called");
  if (!state_->loss) throw PluginError("[tree] the model has no loss: set_loss was not called");
  for (const Module& module : state_->modules) {
    if (module.leaf) check_parameters(module);
  }
}

void Tree::attach(ModuleId module, std::int32_t priority, Around around, std::uint32_t declared) {
  auto& arounds = state_->module(module).arounds;
  if (module == TITAN_MODULE_ROOT) throw PluginError("[tree] the root is never called: attach to another module");
  if (!around) throw PluginError("[", state_->module(module).name, "] the interceptor is NULL");
  if ((declared & ~kDeclaredBits) != 0) {
    throw PluginError("[", state_->module(module).name, "] unknown bits in what an interceptor declares: ", declared);
  }
  const auto place = std::upper_bound(arounds.begin(), arounds.end(), priority,
                                      [](std::int32_t wanted, const auto& entry) { return wanted < entry.priority; });
  arounds.insert(place, {priority, declared, std::move(around)});
}

std::size_t Tree::num_modules() const { return state_->modules.size(); }
const std::string& Tree::name(ModuleId module) const { return state_->module(module).name; }
const std::string& Tree::kind(ModuleId module) const { return state_->module(module).kind; }
const Attribute* Tree::attribute(ModuleId module, std::string_view key) const {
  const auto& attributes = state_->module(module).attributes;
  const auto found = attributes.find(key);
  return found == attributes.end() ? nullptr : &found->second;
}
ModuleId Tree::parent(ModuleId module) const { return state_->module(module).parent; }
const std::vector<ModuleId>& Tree::chain() const { return state_->chain; }
std::optional<ModuleId> Tree::loss_module() const { return state_->loss; }
const std::vector<std::unique_ptr<Parameter>>& Tree::parameters() const { return state_->parameters; }
const std::vector<Parameter*>& Tree::parameters(ModuleId module) const { return state_->module(module).parameters; }
const std::vector<std::string>& Tree::parameter_names(ModuleId module) const {
  return state_->module(module).parameter_names;
}

ModuleId Tree::running() const { return state_->running; }
const Precision& Tree::precision() const { return state_->precision; }
at::Device Tree::device() const { return state_->device; }

Parameter* Tree::find_parameter(std::string_view name) const {
  const auto found = state_->parameter_names.find(name);
  return found == state_->parameter_names.end() ? nullptr : found->second;
}

}  // namespace titan::nn
