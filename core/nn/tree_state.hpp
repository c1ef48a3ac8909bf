#pragma once

#include <ATen/core/Generator.h>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/nn/leaf.hpp"
#include "core/nn/rope_table.hpp"
#include "core/nn/tree.hpp"

namespace titan::nn {

/// What stands around a module.
struct Interceptor {
  std::int32_t priority;
  std::uint32_t declared;  // TITAN_AROUND_* bits
  Around around;
};

/// One module: the root, a leaf of a kind, or a plugin's callback.
struct Module {
  std::string name;  // fully qualified
  std::string kind;
  ModuleId parent = TITAN_MODULE_ROOT;
  std::map<std::string, Attribute, std::less<>> attributes;  // of a leaf, as declared
  std::vector<Parameter*> parameters;                        // own and shared ones
  std::vector<std::string> parameter_names;                  // inside the module
  std::vector<Buffer*> buffers;
  std::vector<Interceptor> arounds;  // outermost first
  std::unique_ptr<Leaf> leaf;
  titan_forward_fn forward = nullptr;
  std::unique_ptr<void, void (*)(void*)> self{nullptr, [](void*) {}};
  const char* plugin = nullptr;  // whose callback it is, for the fatal-signal handler
};

struct Tree::State {
  std::deque<Module> modules;  // a deque: names are handed out by reference
  std::vector<std::unique_ptr<Parameter>> parameters;
  std::vector<std::unique_ptr<Parameter>> elsewhere;  // on other pipeline stages: declared, without tensors
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::map<std::string, ModuleId, std::less<>> module_names;
  std::map<std::string, Parameter*, std::less<>> parameter_names;
  std::vector<ModuleId> chain;
  std::vector<std::uint32_t> chain_inputs;
  std::vector<Stage> stages;  // empty while the whole chain is one
  std::optional<ModuleId> loss;
  Phase phase = Phase::training;
  RopeTables rope_tables;
  Precision precision;
  at::Device device = at::kCPU;  // of the parameters
  config::Mesh mesh;
  at::Generator generator;  // of random numbers at run time; undefined until the parameters exist
  bool is_built = false;    // nothing can be added any more: strategies place what is there
  bool materialised = false;
  ModuleId running = TITAN_MODULE_ROOT;

  /// The module of that id. PluginError when there is none.
  Module& module(ModuleId id);
  const Module& module(ModuleId id) const { return const_cast<State*>(this)->module(id); }
  /// The full name of `name` below `parent`. PluginError when it is malformed or taken.
  std::string new_name(ModuleId parent, std::string_view name);
  ModuleId add(Module&& module);
  /// Makes the buffers that the module's leaf keeps. PluginError when the module above has one of that name already.
  void add_buffers(Module& module);
  void seed_generator(std::uint64_t seed);
  /// Throws once strategies place the parameters, or these exist: the tree's shape is fixed from then on.
  void require_building() const;
  /// Whether the last block and the loss are leaves that may run in one.
  bool may_fuse_loss() const;
  /// Whether the axis has more than one rank: an axis of one takes no part in placements and ledger.
  bool counts(config::Axis axis) const { return mesh.degree(axis) > 1; }
};

/// Runs a leaf or a callback without its interceptors.
Tensors run_module(Module& module, Frame& frame, const Tensors& in);

/// Turns a plugin's declaration into a parameter of that full name. PluginError when it does not make sense.
std::unique_ptr<Parameter> checked_parameter(std::string name, const titan_parameter& declaration);

}  // namespace titan::nn
