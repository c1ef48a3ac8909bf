// What the tree and the C ABI cost around the operators: calls of modules that do nothing, and one operator boxed
// beside the same operator called directly.
#include <ATen/ops/add.h>
#include <ATen/ops/ones.h>
#include <benchmark/benchmark.h>
#include <c10/core/GradMode.h>

#include "core/nn/tree.hpp"
#include "core/tensor/interface.hpp"
#include "titan/torch/tensor.hpp"

namespace titan {
namespace {

titan_error* same(void*, titan_frame*, const titan_tensor* in, std::uint32_t, titan_tensor* out, std::uint32_t) {
  out[0] = handle::release(handle::borrow(in[0]));
  return nullptr;
}

titan_error* call_child(void* self, titan_frame* frame, const titan_tensor* in, std::uint32_t num_in, titan_tensor* out,
                        std::uint32_t num_out) {
  return nn::tree_interface()->call(frame, *static_cast<titan_module*>(self), in, num_in, out, num_out);
}

void call_a_callback(benchmark::State& state) {
  nn::Tree tree;
  const auto module = tree.add_custom(TITAN_MODULE_ROOT, "m", same, nullptr, nullptr);
  const nn::Tensors in = {at::ones({1})};
  for (auto _ : state) benchmark::DoNotOptimize(tree.call(module, in));
}
BENCHMARK(call_a_callback);

void call_a_child_through_the_table(benchmark::State& state) {
  nn::Tree tree;
  titan_module child = 0;
  const auto module = tree.add_custom(TITAN_MODULE_ROOT, "m", call_child, &child, nullptr);
  child = tree.add_custom(module, "child", same, nullptr, nullptr);
  const nn::Tensors in = {at::ones({1})};
  for (auto _ : state) benchmark::DoNotOptimize(tree.call(module, in));
}
BENCHMARK(call_a_child_through_the_table);

void add_directly(benchmark::State& state) {
  const c10::NoGradGuard no_grad;
  const at::Tensor x = at::ones({16});
  for (auto _ : state) benchmark::DoNotOptimize(at::add(x, x));
}
BENCHMARK(add_directly);

void add_through_the_table(benchmark::State& state) {
  const c10::NoGradGuard no_grad;
  const auto& table = *tensor::tensor_interface();
  titan_op op = nullptr;
  if (table.op_find({"aten::add", 9}, {"Tensor", 6}, &op) != nullptr) return state.SkipWithError("no aten::add");
  const at::Tensor x = at::ones({16});
  titan_value args[2] = {{TITAN_VALUE_TENSOR, 0, {}}, {TITAN_VALUE_TENSOR, 0, {}}};
  args[0].as.tensor = args[1].as.tensor = handle::lend(x);
  for (auto _ : state) {
    titan_tensor out = nullptr;
    benchmark::DoNotOptimize(table.op_call(op, args, 2, &out, 1));
    table.release(out);
  }
}
BENCHMARK(add_through_the_table);

}  // namespace
}  // namespace titan
