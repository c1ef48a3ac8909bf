#include "plugins/observability/numerics/module_watch.hpp"

#include <ATen/core/grad_mode.h>

#include <limits>
#include <utility>

#include "plugins/observability/breakpoint/tensor_text.hpp"

namespace titan::observability {
namespace {

// What a caller sees of a module, and what the module itself sees: interceptors of strategies stand in between.
constexpr std::int32_t kOutermost = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kInnermost = std::numeric_limits<std::int32_t>::max();

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
  Range look(const at::Tensor& tensor, const Call& call, const std::string& what) {
    const Range range = range_of(tensor);
    if (!range.is_known || !is_on || is_seen(first)) return range;
    ++num_looks;
    if (!range.is_finite()) {
      first = sighting(tensor, call, what);
    } else if (!is_seen(large) && range.is_large(tensor.scalar_type())) {
      large = sighting(tensor, call, what);
    }
    last = sdk::concat(what, " of ", module(call.module).name());
    return range;
  }

  static bool is_seen(const Sighting& sighting) { return sighting.place.kind != ComputationPlace::nowhere; }

  titan_place here() const {
    titan_place place{};
    place.struct_size = sizeof place;
    control_table.place(control, &place);
    return place;
  }

  Sighting sighting(const at::Tensor& tensor, const Call& call, const std::string& what) const {
    const titan_place place = here();
    const bool in_backward = place.phase == TITAN_IN_BACKWARD;
    const std::int64_t stage = place.stage;
    return {{ComputationPlace::in_a_module, place.micro_batch, in_backward ? 1 : 0, in_backward ? -stage : stage,
             num_looks},
            describe(tensor, call, what, place)};
  }

  std::string describe(const at::Tensor& tensor, const Call& call, const std::string& what,
                       const titan_place& place) const {
    const bool in_backward = place.phase == TITAN_IN_BACKWARD && !call.is_recomputed;
    std::string text = sdk::concat(in_backward          ? "in backward of "
                                   : call.is_recomputed ? "in the recomputed forward of "
                                                        : "in forward of ",
                                   module(call.module).name());
    if (place.micro_batch >= 0) text += sdk::concat(", micro-batch ", place.micro_batch);
    if (place.stage > 0) text += sdk::concat(", stage ", place.stage);
    text += sdk::concat(": ", what, " (", type_and_shape(tensor), "): ", describe_trouble(tensor));
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      if (call.inputs[i].is_known) text += sdk::concat("; input ", i, ' ', observability::describe(call.inputs[i]));
    }
    text += weights(call.module);
    return text + (last.empty() ? "; nothing was looked at before it" : sdk::concat("; before it came ", last));
  }

  std::string weights(titan_module id) const {
    std::string text;
    for (const strategy::Parameter& parameter : module(id).parameters()) {
      if (!parameter.is_kept()) continue;
      const std::string name = parameter.name().substr(parameter.name().rfind('.') + 1);
      const Range whole = range_of(parameter.compute());
      text += whole.is_known ? sdk::concat("; ", name, ' ', observability::describe(whole))
                             : sdk::concat("; ", name, " (this rank's part) ",
                                           observability::describe(range_of(parameter.storage())));
    }
    return text;
  }

  /// Looks at a tensor's gradient, when backward comes to it.
  void look_in_backward(const std::shared_ptr<State>& self, const at::Tensor& tensor, const std::shared_ptr<Call>& call,
                        std::string what) {
    if (!tensor.requires_grad() || !at::GradMode::is_enabled()) return;
    tensor.register_hook([self, call, what = std::move(what)](const at::TensorBase& gradient) {
      strategy::run_in_backward([&] {
        if (self->is_on) self->look(at::Tensor(gradient), *call, what);
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
  Sighting first, large;
  /// Calls that run, outermost first: what stands outermost at a module tells what stands innermost.
  std::vector<std::shared_ptr<Call>> running;
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
  state_->running.clear();
  state_->is_on = true;
  hook_parameters();
}

void ModuleWatch::stop() {
  state_->is_on = false;
  for (auto& [tensor, hook] : hooks_) tensor.remove_hook(hook);
  hooks_.clear();
}

const Sighting& ModuleWatch::first() const { return state_->first; }

Sighting ModuleWatch::origin() const {
  if (!State::is_seen(state_->large)) return state_->first;
  Sighting found = state_->large;
  if (State::is_seen(state_->first)) found.text += sdk::concat("; then ", state_->first.text);
  return found;
}

void ModuleWatch::attach() {
  using strategy::Frame, strategy::Inputs, strategy::Next, strategy::Tensors;
  const auto outer = [state = state_](Frame& frame, Next next, Inputs in) {
    if (!state->is_on) return next(frame, in);
    const auto call = std::make_shared<Call>(Call{frame.module().id(), frame.phase() == TITAN_PHASE_RECOMPUTATION, {}});
    for (std::size_t i = 0; i < in.size(); ++i) {
      call->inputs.push_back(state->look(in[i], *call, sdk::concat("input ", i)));
    }
    state->running.push_back(call);
    Tensors out = next(frame, in);
    state->running.pop_back();
    for (std::size_t i = 0; i < out.size(); ++i) {
      state->look(out[i], *call, sdk::concat("output ", i));
      state->look_in_backward(state, out[i], call, sdk::concat("gradient of output ", i));
    }
    return out;
  };
  const auto inner = [state = state_](Frame& frame, Next next, Inputs in) {
    if (!state->is_on || state->running.empty() || !at::GradMode::is_enabled()) return next(frame, in);
    Tensors inputs = in;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (!in[i].requires_grad()) continue;
      // A node of its own: its gradient is what this module alone gives its input.
      inputs[i] = in[i].view_as(in[i]);
      state->look_in_backward(state, inputs[i], state->running.back(), sdk::concat("gradient of input ", i));
    }
    return next(frame, inputs);
  };
  for (const strategy::Module& module : state_->modules) {
    strategy::attach(state_->tree.at_priority(kOutermost), module, outer);
    strategy::attach(state_->tree.at_priority(kInnermost), module, inner);
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
          if (state->is_on) state->look(at::Tensor(gradient), *call, what);
        });
      });
      hooks_.emplace_back(tensor, hook);
    }
  }
}

}  // namespace titan::observability
