#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "core/config/engine.hpp"
#include "core/nn/tree.hpp"
#include "core/tensor/guard.hpp"

namespace titan::train {
class Control;
}  // namespace titan::train

namespace titan::testing {

/// A guard made of functions: those that are set are its duties, and `more_duties`. What they throw is its error.
struct FunctionGuard {
  std::function<void(train::Control&, nn::Tree&)> attach;
  std::function<void(std::int64_t step)> step_begin;
  std::function<void(const titan_pass& pass)> around;
  std::function<void(const titan_outcome& outcome, titan_judgement& out)> judge;
  std::uint32_t more_duties = 0;

  PluginInterface<titan_guard_v1> plugin(std::string name = "test_guard") { return {std::move(name), this, &table()}; }

 private:
  static FunctionGuard& self(void* ctx) { return *static_cast<FunctionGuard*>(ctx); }

  static const titan_guard_v1& table() {
    static const titan_guard_v1 made = [] {
      titan_guard_v1 filled{};
      filled.struct_size = sizeof filled;
      filled.duties = [](void* ctx) -> std::uint32_t {
        const FunctionGuard& guard = self(ctx);
        return guard.more_duties | (guard.attach ? TITAN_DUTY_ATTACH : 0) | (guard.step_begin ? TITAN_DUTY_STEP : 0) |
               (guard.around ? TITAN_DUTY_AROUND : 0) | (guard.judge && guard.more_duties == 0 ? TITAN_DUTY_JUDGE : 0);
      };
      filled.attach = [](void* ctx, titan_control* control, titan_tree* tree, titan_mesh*) {
        return tensor::guarded(
            [&] { self(ctx).attach(*reinterpret_cast<train::Control*>(control), *reinterpret_cast<nn::Tree*>(tree)); });
      };
      filled.step_begin = [](void* ctx, std::int64_t step) {
        return tensor::guarded([&] { self(ctx).step_begin(step); });
      };
      filled.around = [](void* ctx, const titan_pass* pass) {
        return tensor::guarded([&] { self(ctx).around(*pass); });
      };
      filled.judge = [](void* ctx, const titan_outcome* outcome, titan_judgement* out) {
        return tensor::guarded([&] { self(ctx).judge(*outcome, *out); });
      };
      return filled;
    }();
    return made;
  }
};

/// Throws what a function of the ABI gives back.
inline void require(titan_error* error) {
  if (error == nullptr) return;
  const std::string text = error->text;
  delete_abi_error(error);
  throw PluginError(text);
}

}  // namespace titan::testing
