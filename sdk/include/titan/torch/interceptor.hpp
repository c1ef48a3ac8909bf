#pragma once

#include <ATen/core/Tensor.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "titan/torch/error.hpp"
#include "titan/torch/tree.hpp"

namespace titan::strategy {

using Tensors = std::vector<at::Tensor>;
using Inputs = const Tensors&;

/// One running call of one module; valid inside the interceptor only.
class Frame {
 public:
  Frame(const tree_detail::Source& source, titan_frame* frame, std::uint32_t num_outputs)
      : source_(source), frame_(frame), num_outputs_(num_outputs) {}

  Module module() const { return {source_, source_.table->frame_module(frame_)}; }
  /// How many tensors the caller expects.
  std::uint32_t num_outputs() const { return num_outputs_; }
  /// TITAN_PHASE_*.
  std::int32_t phase() const { return source_.table->frame_phase(frame_); }
  /// What `make()` gives for `source`, made once for all children of the caller that ask for the same purpose.
  template <class Make>
  at::Tensor once(std::string_view purpose, const at::Tensor& source, Make make) const {
    titan_tensor known = nullptr;
    source_.host.check(source_.table->memo_get(frame_, sdk::borrow(purpose), handle::lend(source), &known));
    if (known != nullptr) return handle::own(known);
    at::Tensor made = make();
    source_.host.check(source_.table->memo_put(frame_, sdk::borrow(purpose), handle::lend(source), handle::lend(made)));
    return made;
  }

 private:
  friend class Next;
  const tree_detail::Source& source_;
  titan_frame* frame_;
  std::uint32_t num_outputs_;
};

/// What remains of a call after an interceptor: `next(f, in)` runs it. A plain value.
class Next {
 public:
  explicit Next(titan_next next) : next_(next) {}

  Tensors operator()(Frame& frame, Inputs in) const {
    return run(frame.source_, in, frame.num_outputs_,
               [&](auto... arguments) { return frame.source_.table->next(frame.frame_, next_, arguments...); });
  }
  /// Runs it once more, in backward, as a recomputation. `tree` is the one that the interceptor is attached to.
  Tensors recompute(const Tree& tree, Inputs in, std::uint32_t num_outputs) const {
    return run(tree.source(), in, num_outputs,
               [&](auto... arguments) { return tree.source().table->recompute(next_, arguments...); });
  }

 private:
  template <class Call>
  static Tensors run(const tree_detail::Source& source, Inputs in, std::uint32_t num_outputs, Call call) {
    std::vector<titan_tensor> inputs, outputs(num_outputs, nullptr);
    for (const at::Tensor& tensor : in) inputs.push_back(handle::lend(tensor));
    source.host.check(call(inputs.data(), static_cast<std::uint32_t>(inputs.size()), outputs.data(), num_outputs));
    Tensors made;
    for (const titan_tensor output : outputs) made.push_back(handle::own(output));
    return made;
  }

  titan_next next_;
};

/// What runs around a module: calls `next` as often as it likes, or not at all (a replacement).
template <class Body>
concept Around = std::is_invocable_r_v<Tensors, Body&, Frame&, Next, Inputs>;

namespace interceptor_detail {

template <Around Body>
struct Box {
  tree_detail::Source source;
  Body body;

  static titan_error* around(void* self, titan_frame* raw, titan_next next, const titan_tensor* in,
                             std::uint32_t num_in, titan_tensor* out, std::uint32_t num_out) noexcept {
    auto& box = *static_cast<Box*>(self);
    return guard(box.source.host.table(), [&] {
      Tensors inputs;
      for (std::uint32_t i = 0; i < num_in; ++i) inputs.push_back(handle::borrow(in[i]));
      Frame frame(box.source, raw, num_out);
      Tensors outputs = box.body(frame, Next(next), inputs);
      if (outputs.size() != num_out) {
        throw sdk::InternalError("[strategy] wrong number of outputs: gives ", outputs.size(), ", asked for ", num_out);
      }
      for (std::uint32_t i = 0; i < num_out; ++i) out[i] = handle::release(std::move(outputs[i]));
    });
  }
  static void destroy(void* self) noexcept { delete static_cast<Box*>(self); }
};

/// Whether the name fits the pattern: '*' stands for any text without a dot, "**" for any text.
constexpr bool fits(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() != '*') {
    return !name.empty() && name.front() == pattern.front() && fits(pattern.substr(1), name.substr(1));
  }
  const bool any = pattern.starts_with("**");
  const std::string_view rest = pattern.substr(any ? 2 : 1);
  for (std::size_t taken = 0;; ++taken) {
    if (fits(rest, name.substr(taken))) return true;
    if (taken == name.size() || (!any && name[taken] == '.')) return false;
  }
}

}  // namespace interceptor_detail

/// Modules whose full names fit a pattern, in order: '*' stands for any text without a dot, "**" for any text.
inline std::vector<Module> modules(const Tree& tree, std::string_view pattern) {
  std::vector<Module> found;
  for (const Module& module : tree.modules()) {
    if (interceptor_detail::fits(pattern, module.name())) found.push_back(module);
  }
  return found;
}

/// What an interceptor declares of itself, so that the host may run what follows a module together with it: see
/// TITAN_AROUND_*.
enum class Declared : std::uint32_t {
  nothing = 0,
  any_outputs = TITAN_AROUND_ANY_OUTPUTS,
  skippable = TITAN_AROUND_SKIPPABLE,
  any_outputs_and_skippable = TITAN_AROUND_ANY_OUTPUTS | TITAN_AROUND_SKIPPABLE
};

/// Puts `body` around a module. It is copied, and freed with the tree; what it throws stops the run.
template <Around Body>
void attach(const Tree& tree, const Module& module, Body body, Declared declared = Declared::nothing) {
  using Box = interceptor_detail::Box<Body>;
  auto box = std::make_unique<Box>(Box{tree.source(), std::move(body)});
  const auto& [host, table, raw] = tree.source();
  // A host that knows no declarations runs every module as it is.
  host.check(TITAN_HAS(table, attach_declared)
                 ? table->attach_declared(raw, module.id(), tree.priority(), static_cast<std::uint32_t>(declared),
                                          &Box::around, box.get(), &Box::destroy)
                 : table->attach(raw, module.id(), tree.priority(), &Box::around, box.get(), &Box::destroy));
  // The tree owns it from here on.
  static_cast<void>(box.release());
}

/// Puts `body` around every module whose name fits the pattern; each gets a copy of its own. InternalError when none
/// does.
template <Around Body>
void attach(const Tree& tree, std::string_view pattern, const Body& body) {
  const std::vector<Module> found = modules(tree, pattern);
  if (found.empty()) throw sdk::InternalError("[strategy] no module has a name like ", pattern);
  for (const Module& module : found) attach(tree, module, body);
}

/// Runs `body()` in backward, when the gradient of `tensor` is complete. The hook lives as long as the recorded graph.
template <class Body>
void on_gradient(const at::Tensor& tensor, Body body) {
  tensor.register_hook([body = std::move(body)](const at::TensorBase&) { run_in_backward(body); });
}

}  // namespace titan::strategy
