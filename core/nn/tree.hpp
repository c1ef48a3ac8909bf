#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/box.hpp"
#include "core/config/mesh.hpp"
#include "titan/abi/tree.h"

namespace titan::nn {

class Tree;
class Frame;
using Tensors = std::vector<at::Tensor>;
using ModuleId = titan_module;

/// How a parameter starts: see TITAN_INIT_*.
struct Init {
  std::int32_t kind = TITAN_INIT_CONSTANT;
  double value = 0, mean = 0, std = 0, low = 0, high = 0;
};

using titan::Box;

/// What is known of a parameter along one mesh axis.
struct AxisPlacement {
  std::optional<std::int64_t> shard_dim;                  // none: every rank of the axis has the same box
  std::int32_t declared_gradient = TITAN_GRADIENT_EQUAL;  // after backward
  std::int32_t gradient = TITAN_GRADIENT_EQUAL;           // in this step, so far
};

/// A parameter and its tensors: `storage` is what the optimizer and checkpoints see, `compute` what forward sees.
struct Parameter {
  std::string name;                 // fully qualified: "layers.0.attention.wq.weight"
  std::vector<std::int64_t> shape;  // of the whole parameter
  std::int32_t split = TITAN_SPLIT_REPLICATE;
  Init init;
  ModuleId owner = TITAN_MODULE_ROOT;                      // the module that declared it
  Box part;                                                // of it, what this rank stores
  std::array<AxisPlacement, config::kNumAxes> placements;  // by config::Axis
  std::int32_t owned_forms = 0;                            // TITAN_OWN_* bits: a strategy looks after these
  at::Tensor storage;                                      // of `part`: training.dtype, requires_grad
  at::Tensor compute;   // compute dtype; the same tensor as `storage` when the dtypes are equal and the host owns it
  at::Tensor gradient;  // of `part`: reduce dtype; undefined until the first backward of a step
};

/// A tensor of a module that is no parameter: it has no gradient, and the optimizer does not see it. Starts at zero.
struct Buffer {
  std::string name;  // fully qualified: "layers.0.moe.expert_bias"
  std::vector<std::int64_t> shape;
  at::ScalarType dtype = at::kFloat;
  bool is_saved = true;    // whether a checkpoint holds it
  bool is_summed = false;  // a summand of each rank, until the step ends
  bool is_kept = true;     // whether it has a tensor on this rank: false on other pipeline stages
  at::Tensor value;
};

using Attribute = std::variant<std::int64_t, double, std::string>;

/// Why a module runs: TITAN_PHASE_*.
enum class Phase : std::int32_t {
  training = TITAN_PHASE_TRAINING,
  recomputation = TITAN_PHASE_RECOMPUTATION,
  evaluation = TITAN_PHASE_EVALUATION
};

/// Chain blocks first .. first + count - 1, which a rank runs in one go. `index` counts the stages of the whole model.
struct Stage {
  std::uint32_t index = 0, first = 0, count = 0;
};

/// The rest of a call after an interceptor: a plain value that may be kept and called again, also from backward.
struct Next {
  std::uint32_t index = 0;
  Tensors operator()(Frame& frame, const Tensors& in) const;
};
using Around = std::function<Tensors(Frame& frame, Next next, const Tensors& in)>;

/// Tensors worked out from other tensors, kept as long as their frame.
class Memo {
 public:
  /// Gives what was made of `source` for `purpose`, or makes it: anew when `source` was changed in place since.
  const at::Tensor& get(std::string_view purpose, const at::Tensor& source, const std::function<at::Tensor()>& make);
  /// What was made of `source` for `purpose`; null when there is nothing, or `source` was changed in place since.
  const at::Tensor* find(std::string_view purpose, const at::Tensor& source) const;
  const at::Tensor& put(std::string_view purpose, const at::Tensor& source, at::Tensor value);

 private:
  struct Entry {
    std::string purpose;
    at::Tensor source, value;
    std::int64_t version;
  };
  std::vector<std::unique_ptr<Entry>> entries_;
};

/// What the outputs of a projection, the logits, are compared with where it is run together with the loss.
struct LossTarget {
  const std::string& module;  // the loss
  const at::Tensor& labels;   // [B, L] int64
  double gradient;            // what backward will begin with
};

/// One running call of one module. Lives on the caller's stack.
class Frame {
 public:
  /// A call below `parent`, in its phase.
  Frame(Tree& tree, ModuleId module, Frame& parent, std::uint32_t num_outputs = 1)
      : tree_(&tree), parent_(&parent), phase_(parent.phase_), module_(module), num_outputs_(num_outputs) {}
  /// A call without a caller.
  Frame(Tree& tree, ModuleId module, Phase phase, std::uint32_t num_outputs = 1)
      : tree_(&tree), parent_(nullptr), phase_(phase), module_(module), num_outputs_(num_outputs) {}
  Tree& tree() const { return *tree_; }
  ModuleId module() const { return module_; }
  Frame* parent() const { return parent_; }
  Phase phase() const { return phase_; }
  /// How many outputs the caller expects.
  std::uint32_t num_outputs() const { return num_outputs_; }
  /// Of a projection that gives the loss of its outputs instead of them: how. Null otherwise.
  const LossTarget* loss_target() const { return loss_target_; }
  /// The frame this call stands in that has no parent.
  Frame& outermost();
  Memo& memo() { return memo_; }
  /// Parameter `index` of the running module, in compute form.
  const at::Tensor& parameter(std::size_t index) const;
  /// Buffer `index` of the running module, to be changed in place.
  const at::Tensor& buffer(std::size_t index) const;

 private:
  friend class Tree;
  Tree* tree_;
  Frame* parent_;
  const LossTarget* loss_target_ = nullptr;
  Phase phase_;
  ModuleId module_;
  std::uint32_t num_outputs_;
  Memo memo_;
};

/// Precision policy of a run (training.dtype, mixed_precision_param, mixed_precision_reduce).
struct Precision {
  at::ScalarType storage = at::kFloat;
  at::ScalarType compute = at::kBFloat16;
  at::ScalarType reduce = at::kFloat;
};

/// The module tree of one rank. Built through titan.tree/1, then materialised, then called. One thread at a time.
class Tree {
 public:
  Tree();
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  // Building: errors are ConfigError or PluginError naming the module.
  ModuleId add_leaf(ModuleId parent, std::string_view name, std::string_view kind,
                    std::map<std::string, Attribute> attributes);
  ModuleId add_custom(ModuleId parent, std::string_view name, titan_forward_fn callback, void* self,
                      void (*destroy)(void*));
  void add_parameter(ModuleId module, const titan_parameter& declaration);
  /// Gives `module` parameter `index` of `owner` under a name of its own: one tensor, counted once.
  void share_parameter(ModuleId module, std::string_view name, ModuleId owner, std::size_t index);
  void add_to_chain(ModuleId module, std::uint32_t inputs);
  void set_loss(ModuleId module);
  /// Checks the finished tree: a chain, a loss, every leaf has the parameters its kind needs, in the right shapes.
  void validate() const;

  // Placing: after building, before materialise(). Errors are PluginError naming the parameter.
  /// Declares the gradients of all parameters partial along the data axes that have more than one rank, and remembers
  /// the layout: shard() and the ledger count axes of one rank as nothing. Ends building.
  void set_mesh(const config::Mesh& mesh);
  /// Narrows the parameter's part along `dim` and records the shard on the axes. One shard an axis, unless this one
  /// `cuts_further` what ranks of these axes share of the same dim.
  void shard(Parameter& parameter, const std::vector<config::Axis>& axes, std::int64_t dim, std::int64_t offset,
             std::int64_t length, bool cuts_further = false);
  void declare_gradient(Parameter& parameter, const std::vector<config::Axis>& axes, std::int32_t state);
  void mark_gradient(Parameter& parameter, const std::vector<config::Axis>& axes, std::int32_t state);
  void take_over(Parameter& parameter, std::int32_t forms);
  /// Keeps these stages of the chain only, by increasing index; parameters of other blocks leave parameters(), those
  /// outside the chain too unless the last block is kept. Once. ConfigError for a parameter that modules of different
  /// stages share.
  void keep_chain(std::vector<Stage> stages);
  /// Whether the parameter has tensors on this rank.
  bool is_kept(const Parameter& parameter) const;

  /// Begins a step's ledger: gradients are what was declared. PluginError when a gradient that a strategy looks after
  /// is there already.
  void begin_ledger();
  /// PluginError, naming parameter and axis, unless every gradient is there, complete, in reduce dtype, and placed as
  /// its parameter.
  void check_ledger() const;

  /// Attaches an interceptor; smaller priorities run further out. `declared`: TITAN_AROUND_* bits.
  void attach(ModuleId module, std::int32_t priority, Around around, std::uint32_t declared = 0);

  /// Makes this rank's parts of the parameters: counter-based values keyed by (seed, name, element index), whatever the
  /// layout. On the meta device nothing is computed.
  void materialise(const Precision& precision, at::Device device, std::uint64_t seed);
  /// Copies storage into compute form where the dtypes differ and the host owns it. Call after each change of storage.
  void refresh_compute();
  /// Adds the gradients of the last backward, in reduce dtype, to Parameter::gradient and clears autograd's, where the
  /// host owns them.
  void collect_gradients();
  /// Forgets Parameter::gradient of every parameter whose gradient the host owns.
  void zero_gradients();
  /// Ends a step for the buffers: what ranks have summands of goes through `sum`, all of it as one int64 tensor that
  /// `sum` adds up in place (not called when there is nothing), and modules draw their conclusions from it.
  void update_buffers(const std::function<void(const at::Tensor&)>& sum);

  /// The state of this rank's generator, uint8: what operators of titan.tensor/1 draw from while a module runs. It is
  /// seeded by materialise(), with the seed + the first stage's index. PluginError before.
  at::Tensor random_state() const;
  void set_random_state(const at::Tensor& state);

  /// Says what the calls from now on are for: training, or evaluation.
  void set_phase(Phase phase);
  /// What this rank runs of the chain: one stage with all of it, unless keep_chain() was called.
  std::vector<Stage> stages() const;

  /// Calls a module. `parent` is the calling frame, or null from outside. PluginError, naming the module, for wrong
  /// inputs and for another number of outputs; errors of a plugin's callback keep their code.
  Tensors call(ModuleId module, const Tensors& in, Frame* parent = nullptr, std::uint32_t num_outputs = 1);
  /// Runs the rest of a call once more, in backward: in a frame without a caller, in phase recomputation.
  Tensors recompute(ModuleId module, Next rest, const Tensors& in, std::uint32_t num_outputs = 1);
  /// Runs the chain in one outermost frame: tokens [B, L] int64, positions [B, L] int64 -> the last block's output.
  at::Tensor forward(const at::Tensor& tokens, const at::Tensor& positions);
  /// Runs one stage in one outermost frame: x is tokens, or the stage before's output.
  at::Tensor forward(const Stage& stage, const at::Tensor& x, const at::Tensor& positions);
  /// Sum of the losses of the valid labels: output [B, L, V], labels [B, L] int64 -> [].
  at::Tensor loss(const at::Tensor& output, const at::Tensor& labels);
  /// forward() of the last stage and loss(). The last block and the loss run in one, without the logits, where they are
  /// plain leaves, all who stand around them allow it (TITAN_AROUND_*), and it saves memory. `gradient`: what backward
  /// will begin with; another value costs time and, in bfloat16, a rounding.
  at::Tensor forward_loss(const Stage& stage, const at::Tensor& x, const at::Tensor& positions,
                          const at::Tensor& labels, double gradient = 1);
  /// The same for a rank that runs the whole chain.
  at::Tensor forward_loss(const at::Tensor& tokens, const at::Tensor& positions, const at::Tensor& labels,
                          double gradient = 1);

  /// The module that runs, or the root: for records of what happens meanwhile.
  ModuleId running() const;
  const Precision& precision() const;
  /// Where materialise() put the parameters: the CPU before.
  at::Device device() const;

  std::size_t num_modules() const;
  /// Fully qualified name; empty for the root.
  const std::string& name(ModuleId module) const;
  /// A leaf kind, or "custom".
  const std::string& kind(ModuleId module) const;
  /// An attribute of a leaf as it was declared, or null.
  const Attribute* attribute(ModuleId module, std::string_view key) const;
  ModuleId parent(ModuleId module) const;
  const std::vector<ModuleId>& chain() const;
  /// The loss module, or nothing before set_loss.
  std::optional<ModuleId> loss_module() const;
  /// Parameters that have tensors on this rank, in order of declaration.
  const std::vector<std::unique_ptr<Parameter>>& parameters() const;
  const std::vector<Parameter*>& parameters(ModuleId module) const;
  /// The local names of a module's parameters: "weight".
  const std::vector<std::string>& parameter_names(ModuleId module) const;
  /// Buffers that have tensors on this rank, in order of declaration.
  std::vector<Buffer*> buffers() const;
  /// Names of the buffers that checkpoints hold, on all stages.
  std::vector<std::string> saved_buffer_names() const;
  /// The parameter of that name, on whichever stage, or null. A shared one is found by each of its names.
  Parameter* find_parameter(std::string_view name) const;

 private:
  friend struct Next;
  friend class Frame;
  struct State;
  Stage whole_chain() const;
  Tensors run(Frame& frame, const Tensors& in);
  at::Tensor run_blocks(Frame& root, std::size_t first, std::size_t end, const at::Tensor& x,
                        const at::Tensor& positions);
  std::unique_ptr<State> state_;
};

/// The titan.tree/1 table; a titan_tree* is a Tree*.
const titan_tree_v1* tree_interface();

}  // namespace titan::nn
