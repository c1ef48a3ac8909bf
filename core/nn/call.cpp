#include <algorithm>
#include <exception>
#include <utility>

#include "core/base/position.hpp"
#include "core/nn/callback.hpp"
#include "core/nn/head_loss.hpp"
#include "core/nn/tree_state.hpp"
#include "core/tensor/guard.hpp"
#include "core/tensor/random_source.hpp"

namespace titan::nn {

Tensors run_module(Module& module, Frame& frame, const Tensors& in) {
  if (module.leaf) {
    try {
      const LossTarget* target = frame.loss_target();
      return target == nullptr ? module.leaf->forward(frame, in) : Tensors{head_loss(frame, in, *target)};
    } catch (const c10::Error&) {
      tensor::rethrow_torch_error(concat('[', module.name, "] "));
    }
  }
  if (module.forward == nullptr) throw PluginError("[tree] the root cannot be called");
  return run_callback({module.forward, module.self.get(), module.plugin, &module.name}, frame, in);
}

Tensors Next::operator()(Frame& frame, const Tensors& in) const {
  Module& module = frame.tree().state_->module(frame.module());
  if (index < module.arounds.size()) return module.arounds[index].around(frame, Next{index + 1}, in);
  return run_module(module, frame, in);
}

Frame& Frame::outermost() {
  Frame* frame = this;
  while (frame->parent_ != nullptr) frame = frame->parent_;
  return *frame;
}

const at::Tensor& Frame::parameter(std::size_t index) const {
  const Module& module = tree_->state_->module(module_);
  TITAN_CHECK(index < module.parameters.size(), module.name, " has no parameter ", index);
  const at::Tensor& compute = module.parameters[index]->compute;
  TITAN_CHECK(compute.defined(), module.name, " is called before its parameters are made");
  return compute;
}

const at::Tensor& Frame::buffer(std::size_t index) const {
  const Module& module = tree_->state_->module(module_);
  TITAN_CHECK(index < module.buffers.size(), module.name, " has no buffer ", index);
  const at::Tensor& value = module.buffers[index]->value;
  TITAN_CHECK(value.defined(), module.name, " is called before its buffers are made");
  return value;
}

const at::Tensor& Memo::get(std::string_view purpose, const at::Tensor& source,
                            const std::function<at::Tensor()>& make) {
  const at::Tensor* known = find(purpose, source);
  return known != nullptr ? *known : put(purpose, source, make());
}

const at::Tensor* Memo::find(std::string_view purpose, const at::Tensor& source) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return entry->purpose == purpose && entry->source.is_same(source) && entry->version == source._version();
  });
  return found == entries_.end() ? nullptr : &(*found)->value;
}

const at::Tensor& Memo::put(std::string_view purpose, const at::Tensor& source, at::Tensor value) {
  entries_.push_back(std::make_unique<Entry>(Entry{std::string(purpose), source, std::move(value), source._version()}));
  return entries_.back()->value;
}

namespace {

/// Names the running module for a scope, also when it is left by an exception: to the tree, and to who asks where the
/// rank is.
class Running {
 public:
  Running(ModuleId& slot, ModuleId module)
      : slot_(slot), before_(std::exchange(slot, module)), position_(current_position()) {
    tell(module);
  }
  ~Running() {
    slot_ = before_;
    // Where an exception came from is where the rank is, until it goes on.
    if (std::uncaught_exceptions() == num_exceptions_) tell(before_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  void tell(ModuleId module) const {
    if (position_ != nullptr) position_->module.store(module, std::memory_order_relaxed);
  }

  ModuleId& slot_;
  ModuleId before_;
  Position* position_;
  int num_exceptions_ = std::uncaught_exceptions();
};

}  // namespace

Tensors Tree::call(ModuleId module, const Tensors& in, Frame* parent, std::uint32_t num_outputs) {
  Frame frame =
      parent != nullptr ? Frame(*this, module, *parent, num_outputs) : Frame(*this, module, state_->phase, num_outputs);
  return run(frame, in);
}

Tensors Tree::run(Frame& frame, const Tensors& in) {
  const Running running(state_->running, frame.module());
  const tensor::RandomSource random_numbers(state_->generator);
  Tensors out = Next{0}(frame, in);
  if (out.size() != frame.num_outputs()) {
    throw PluginError("[", name(frame.module()), "] wrong number of outputs: gives ", out.size(), ", asked for ",
                      frame.num_outputs());
  }
  return out;
}

Tensors Tree::recompute(ModuleId module, Next rest, const Tensors& in, std::uint32_t num_outputs) {
  Frame frame(*this, module, Phase::recomputation, num_outputs);
  const Running running(state_->running, module);
  const tensor::RandomSource random_numbers(state_->generator);
  return rest(frame, in);
}

at::Tensor Tree::forward(const at::Tensor& tokens, const at::Tensor& positions) {
  return forward(whole_chain(), tokens, positions);
}

at::Tensor Tree::forward(const Stage& stage, const at::Tensor& x, const at::Tensor& positions) {
  TITAN_CHECK(stage.first + stage.count <= state_->chain.size(), "no such blocks of the chain: ", stage.first, " + ",
              stage.count);
  Frame root(*this, TITAN_MODULE_ROOT, state_->phase);
  return run_blocks(root, stage.first, stage.first + stage.count, x, positions);
}

at::Tensor Tree::run_blocks(Frame& root, std::size_t first, std::size_t end, const at::Tensor& x,
                            const at::Tensor& positions) {
  at::Tensor out = x;
  for (std::size_t i = first; i < end; ++i) {
    Tensors in{std::move(out)};
    if ((state_->chain_inputs[i] & TITAN_CHAIN_POSITIONS) != 0) in.push_back(positions);
    out = std::move(call(state_->chain[i], in, &root).front());
  }
  return out;
}

void Tree::set_phase(Phase phase) { state_->phase = phase; }

}  // namespace titan::nn
