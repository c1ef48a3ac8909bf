#include "core/train/control.hpp"

#include <csignal>
#include <exception>

#include "core/base/abi_struct.hpp"
#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/tensor/guard.hpp"
#include "core/train/guards.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::train {
namespace {

Control*& current_control() {
  thread_local Control* instance = nullptr;
  return instance;
}

Control& self(titan_control* control) { return *reinterpret_cast<Control*>(control); }
const Control& self(const titan_control* control) { return *reinterpret_cast<const Control*>(control); }

titan_error* hold(titan_control* control) {
  return tensor::guarded([&] { self(control).hold(); });
}

titan_error* release(titan_control* control) {
  return tensor::guarded([&] { self(control).release(); });
}

void place(const titan_control* control, titan_place* out) { fill_abi_struct(out, self(control).position().place()); }

void dump(titan_control* control, std::int32_t cause, titan_string reason) {
  try {
    self(control).dump(cause, {reason.data == nullptr ? "" : reason.data, reason.size});
  } catch (const std::exception& error) {
    log_warning("train", "what is known of the rank cannot be written down: ", error.what());
  }
}

titan_error* visit_state(titan_control* control, void* ctx,
                         void (*visit)(void* ctx, std::int32_t kind, titan_string name, titan_tensor tensor)) {
  return tensor::guarded([&] {
    self(control).visit_state([&](std::int32_t kind, const std::string& name, const at::Tensor& tensor) {
      visit(ctx, kind, {name.data(), name.size()}, handle::lend(tensor));
    });
  });
}

titan_error* breakpoint(std::uint32_t rank, titan_string label, const titan_string* names, const titan_tensor* tensors,
                        std::uint32_t num_tensors) {
  return tensor::guarded([&] {
    const Control* control = Control::current();
    if (control == nullptr || control->guards() == nullptr || control->rank() != rank) return;
    control->guards()->breakpoint(label, names, tensors, num_tensors);
  });
}

}  // namespace

Control::Control(const EngineRun& run, Position& position, Observers& observers, nn::Tree& tree)
    : run_(run), position_(position), observers_(observers), tree_(tree), before_(current_control()) {
  current_control() = this;
}

Control::~Control() {
  if (current_control() == this) current_control() = before_;
}

Control* Control::current() { return current_control(); }

std::int64_t Control::rank() const {
  const comm::Communicator* const ranks = ranks_;
  return ranks != nullptr ? ranks->rank() : run_.ranks.rank;
}

void Control::hold() {
  if (comm::Communicator* const ranks = ranks_; ranks != nullptr) ranks->hold();
  if (num_holds_++ > 0) return;
  held_since_ = monotonic_seconds();
  held_.emplace(TITAN_IN_HOLD, position_.micro_batch.load(), position_.stage.load());
}

void Control::release() {
  if (num_holds_ > 0 && --num_holds_ == 0) {
    held_.reset();
    position_.held_seconds += monotonic_seconds() - held_since_;
  }
  if (comm::Communicator* const ranks = ranks_; ranks != nullptr) ranks->release();
}

void Control::stop() const {
  if (run_.request_stop != nullptr) run_.request_stop(SIGINT);
}

void Control::dump(std::int32_t cause, std::string_view reason) const {
  comm::Communicator* const ranks = ranks_;
  if (ranks != nullptr) observers_.dump(cause, reason, position_.describe(), ranks->records());
}

void Control::visit_state(const VisitState& visit) const {
  const auto tell = [&](std::int32_t kind, const std::string& name, const at::Tensor& tensor) {
    if (tensor.defined()) visit(kind, name, tensor);
  };
  for (const auto& parameter : tree_.parameters()) {
    tell(TITAN_STATE_PARAMETER, parameter->name, parameter->storage);
    if (!parameter->compute.is_same(parameter->storage)) {
      tell(TITAN_STATE_COMPUTE, parameter->name, parameter->compute);
    }
    tell(TITAN_STATE_GRADIENT, parameter->name, parameter->gradient);
    if (parameter->compute.defined()) tell(TITAN_STATE_GRADIENT, parameter->name, parameter->compute.grad());
  }
  for (const nn::Buffer* buffer : tree_.buffers()) tell(TITAN_STATE_BUFFER, buffer->name, buffer->value);
  if (optimizer_ == nullptr) return;
  for (const auto& group : optimizer_->groups()) {
    for (std::size_t i = 0; i < group.parameters.size(); ++i) {
      const std::string& name = group.parameters[i]->name;
      tell(TITAN_STATE_OPTIMIZER, name + ".exp_avg", group.states[i].exp_avg);
      tell(TITAN_STATE_OPTIMIZER, name + ".exp_avg_sq", group.states[i].exp_avg_sq);
      tell(TITAN_STATE_OPTIMIZER, name + ".step", group.states[i].step);
    }
  }
}

const titan_control_v1* control_interface() {
  static const titan_control_v1 table = [] {
    titan_control_v1 made{};
    made.struct_size = sizeof made;
    made.hold = hold;
    made.release = release;
    made.stop = [](titan_control* control) { self(control).stop(); };
    made.place = place;
    made.dump = dump;
    made.visit_state = visit_state;
    made.is_shown = [](const titan_control* control) { return self(control).is_shown() ? 1 : 0; };
    made.breakpoint = breakpoint;
    return made;
  }();
  return &table;
}

}  // namespace titan::train
