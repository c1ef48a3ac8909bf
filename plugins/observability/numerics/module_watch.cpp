#include "plugins/observability/numerics/module_watch.hpp"

#include <ATen/core/grad_mode.h>

#include <limits>
#include <utility>

#include "plugins/observability/tensor_text.hpp"

namespace titan::observability {
namespace {

// What a caller sees of a module, and what the module itself sees: strategies stand in between.
constexpr std::int32_t kOutermost = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kInside = std::numeric_limits<std::int32_t>::max() - 1;

constexpr const char* kByStrategies = " (as strategies pass it on)";

/// What is looked at: a tensor that a module is given or gives, or a gradient of one.
enum class Kind { value, gradient };

}  // namespace

/// One call of a module, from its forward to its backward: what its inputs were like.
struct ModuleWatch::Call {
  titan_module module;
  bool is_recomputed;
  std::vector<Range> inputs;
};

struct ModuleWatch::State {
  explicit State(const sdk::GuardHandles& handles)
      : control(handles.control),
        control_table(*handles.host.require<titan_control_v1>(TITAN_CONTROL_V1)),
        tree(sdk::TreeHandle{handles.host, handles.tree, 0}),
        modules(tree.modules()) {}

  const strategy::Module& module(titan_module id) const { return modules.at(id - 1); }

  /// Looks at a tensor of a call, which `what` says: "output 0".
  Range look(Kind kind, const at::Tensor& tensor, const Call& call, const std::string& what) {
    const Range range = range_of(tensor);
    if (!range.is_known || !is_on || is_seen(first)) return range;
    ++num_looks;
    if (!range.is_finite()) {
      first = sighting(kind, tensor, call, what);
    } else if ((!is_seen(large) || !is_seen(outlier)) && range.is_large(tensor.scalar_type())) {
      if (!is_seen(large)) large = sighting(kind, tensor, call, what);
      if (!is_seen(outlier) && has_outlier(tensor)) outlier = sighting(kind, tensor, call, what);
    }
    last = sdk::concat(module(call.module).name(), ", ", what);
    return range;
  }

  static bool is_seen(const Sighting& sighting) { return sighting.place.kind != ComputationPlace::nowhere; }

  titan_place here() const {
    titan_place place{};
    place.struct_size = sizeof place;
    control_table.place(control, &place);
    return place;
  }

  Sighting sighting(Kind kind, const at::Tensor& tensor, const Call& call, const std::string& what) const {
    const titan_place place = here();
    const bool in_backward = place.phase == TITAN_IN_BACKWARD;
    const std::int64_t stage = place.stage;
    return {{ComputationPlace::in_a_module, place.micro_batch, in_backward ? 1 : 0, in_backward ? -stage : stage,
             num_looks},
            describe(kind, tensor, call, what, place),
            details(call)};
  }

  std::string describe(Kind kind, const at::Tensor& tensor, const Call& call, const std::string& what,
                       const titan_place& place) const {
    const bool in_backward = kind == Kind::gradient;
    std::string text = sdk::concat(in_backward          ? "in backward of "
                                   : call.is_recomputed ? "in the recomputed forward of "
                                                        : "in forward of ",
                                   module(call.module).name());
    if (place.micro_batch >= 0) text += sdk::concat(", micro-batch ", place.micro_batch);
    if (place.stage > 0) text += sdk::concat(", stage ", place.stage);
    return text + sdk::concat(": ", what, " (", type_and_shape(tensor), "): ", describe_trouble(tensor));
  }

  /// What the module computed from, and what came before.
  std::vector<std::string> details(const Call& call) const {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      if (call.inputs[i].is_known)
        lines.push_back(sdk::concat("input ", i, ' ', observability::describe(call.inputs[i])));
    }
    for (std::string& line : weights(call.module)) lines.push_back(std::move(line));
    lines.push_back(last.empty() ? "nothing was looked at before it" : sdk::concat("before it came ", last));
    return lines;
  }

  std::vector<std::string> weights(titan_module id) const {
    std::vector<std::string> lines;
    for (const strategy::Parameter& parameter : module(id).parameters()) {
      if (!parameter.is_kept()) continue;
      const std::string name = parameter.name().substr(parameter.name().rfind('.') + 1);
      const Range whole = range_of(parameter.compute());
      lines.push_back(whole.is_known ? sdk::concat(name, ' ', observability::describe(whole))
                                     : sdk::concat(name, " (this rank's part) ",
                                                   observability::describe(range_of(parameter.storage()))));
    }
    return lines;
  }

  /// Runs what remains of a call, and looks at what goes in and comes out.
  strategy::Tensors around(const std::shared_ptr<State>& self, bool is_inside, strategy::Frame& frame,
                           strategy::Next next, strategy::Inputs in) {
    const auto call = std::make_shared<Call>(Call{frame.module().id(), frame.phase() == TITAN_PHASE_RECOMPUTATION, {}});
    for (std::size_t i = 0; i < in.size(); ++i) {
      call->inputs.push_back(look(Kind::value, in[i], *call, sdk::concat("input ", i, is_inside ? kByStrategies : "")));
    }
    strategy::Tensors out = next(frame, in);
    for (std::size_t i = 0; i < out.size(); ++i) {
      look(Kind::value, out[i], *call, sdk::concat("output ", i, is_inside ? "" : kByStrategies));
      look_in_backward(self, out[i], call, sdk::concat("gradient of output ", i, is_inside ? kByStrategies : ""));
    }
    return out;
  }

  /// Looks at a tensor's gradient, when backward comes to it.
  void look_in_backward(const std::shared_ptr<State>& self, const at::Tensor& tensor, const std::shared_ptr<Call>& call,
                        std::string what) {
    if (!tensor.requires_grad() || !at::GradMode::is_enabled()) return;
    tensor.register_hook([self, call, what = std::move(what)](const at::TensorBase& gradient) {
      strategy::run_in_backward([&] {
        if (self->is_on) self->look(Kind::gradient, at::Tensor(gradient), *call, what);
      });
    });
  }

  titan_control* control;
  const titan_control_v1& control_table;
  strategy::Tree tree;
  std::vector<strategy::Module> modules;
  bool is_on = false;
  std::int64_t num_looks = 0;
  std::string last;  // that was looked at
  Sighting first, large, outlier;
};

ModuleWatch::ModuleWatch(const sdk::GuardHandles& handles) : state_(std::make_shared<State>(handles)) {}

ModuleWatch::~ModuleWatch() { state_->is_on = false; }

void ModuleWatch::start() {
  if (!std::exchange(is_attached_, true)) attach();
  stop();
  state_->num_looks = 0;
  state_->last.clear();
  state_->first = {};
  state_->large = {};
  state_->outlier = {};
  state_->is_on = true;
  hook_parameters();
}

void ModuleWatch::stop() {
  state_->is_on = false;
  for (auto& [tensor, hook] : hooks_) tensor.remove_hook(hook);
  hooks_.clear();
}

const Sighting& ModuleWatch::first() const { return state_->first; }

Sighting ModuleWatch::origin(bool is_step_finite) const {
  Sighting found = is_step_finite ? state_->outlier : state_->large;
  if (!State::is_seen(found)) return state_->first;
  if (State::is_seen(state_->first)) found.details.push_back(sdk::concat("then ", state_->first.text));
  return found;
}

void ModuleWatch::attach() {
  for (const strategy::Module& module : state_->modules) {
    for (const bool is_inside : {false, true}) {
      strategy::attach(state_->tree.at_priority(is_inside ? kInside : kOutermost), module,
                       [state = state_, is_inside](strategy::Frame& frame, strategy::Next next, strategy::Inputs in) {
                         return state->is_on ? state->around(state, is_inside, frame, next, in) : next(frame, in);
                       });
    }
  }
}

void ModuleWatch::hook_parameters() {
  for (const strategy::Module& module : state_->modules) {
    for (const strategy::Parameter& parameter : module.parameters()) {
      if (!parameter.is_kept()) continue;
      const at::Tensor tensor = parameter.compute();
      if (!tensor.defined() || !tensor.requires_grad()) continue;
      const auto call = std::make_shared<Call>(Call{module.id(), false, {}});
      const std::string what = sdk::concat("gradient of parameter ", parameter.name());
      const unsigned hook = tensor.register_hook([state = state_, call, what](const at::TensorBase& gradient) {
        strategy::run_in_backward([&] {
          if (state->is_on) state->look(Kind::gradient, at::Tensor(gradient), *call, what);
        });
      });
      hooks_.emplace_back(tensor, hook);
    }
  }
}

}  // namespace titan::observability
