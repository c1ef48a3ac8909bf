// The kernels of every level against attention written out in fp64: those of this processor, the others are skipped.
#include "core/nn/kernels/attention/attention_kernel.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>

#include "core/nn/attention_tasks.hpp"
#include "core/nn/kernels/attention/levels.hpp"
#include "core/tensor/processor.hpp"

namespace titan::nn {
namespace {

/// What attention gives: by name, tensors [B,N,L,H], log_sum [B,N,L].
using Results = std::map<std::string, at::Tensor>;

struct Shape {
  std::int64_t rows, queries, keys, heads, kv_heads, dim;
  bool is_causal;
};

/// q, k, v and the gradient of out: parts of one projection, so that no stride is what it would be by itself.
struct Inputs {
  Inputs(const Shape& shape, at::ScalarType type) {
    const auto part = [&](std::int64_t tokens, std::int64_t heads) {
      return at::randn({shape.rows, tokens + 1, heads * shape.dim + 24})
          .to(type)
          .narrow(1, 1, tokens)
          .narrow(2, 8, heads * shape.dim)
          .unflatten(2, {heads, shape.dim})
          .transpose(1, 2);
    };
    q = part(shape.queries, shape.heads);
    k = part(shape.keys, shape.kv_heads);
    v = part(shape.keys, shape.kv_heads);
    grad = part(shape.queries, shape.heads);
  }
  at::Tensor q, k, v, grad;
};

Results written_out(const Inputs& in, const Shape& shape, double scale) {
  const std::int64_t group = shape.heads / shape.kv_heads;
  const at::Tensor q = in.q.to(at::kDouble), g = in.grad.to(at::kDouble),
                   k = in.k.to(at::kDouble).repeat_interleave(group, 1),
                   v = in.v.to(at::kDouble).repeat_interleave(group, 1);
  at::Tensor scores = at::matmul(q, k.transpose(2, 3)) * scale;
  if (shape.is_causal) {
    scores = scores.masked_fill(at::ones({shape.queries, shape.keys}, at::kBool).triu(1), -INFINITY);
  }
  const at::Tensor log_sum = scores.logsumexp(3), p = (scores - log_sum.unsqueeze(3)).exp(), out = at::matmul(p, v);
  const at::Tensor s = p * (at::matmul(g, v.transpose(2, 3)) - (out * g).sum(3, true)) * scale;
  const auto summed = [&](const at::Tensor& x) { return x.unflatten(1, {shape.kv_heads, group}).sum(2); };
  return {{"out", out},
          {"log_sum", log_sum},
          {"q", at::matmul(s, k)},
          {"k", summed(at::matmul(s.transpose(2, 3), q))},
          {"v", summed(at::matmul(p.transpose(2, 3), g))}};
}

Results of_libtorch(const Inputs& in, const Shape& shape, double scale) {
  const auto [out, log_sum] =
      at::_scaled_dot_product_flash_attention_for_cpu(in.q, in.k, in.v, 0.0, shape.is_causal, {}, scale);
  const auto [q, k, v] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      in.grad, in.q, in.k, in.v, out, log_sum, 0.0, shape.is_causal, {}, scale);
  return {{"out", out}, {"log_sum", log_sum}, {"q", q}, {"k", k}, {"v", v}};
}

kernels::Heads heads(const at::Tensor& x) { return {x.data_ptr(), x.stride(0), x.stride(2), x.stride(1)}; }

void run_tasks(const kernels::AttentionLevel& level, const kernels::Attention& call, const AttentionPlan& plan,
               bool is_backward) {
  const auto size = static_cast<std::size_t>(level.workspace_size(call, plan.most_keys));
  // Exactly as much as was asked for, with garbage in it.
  const std::unique_ptr<std::byte, decltype(&std::free)> memory(static_cast<std::byte*>(std::aligned_alloc(64, size)),
                                                                &std::free);
  std::fill_n(memory.get(), size, std::byte{0xff});
  for (const kernels::AttentionTask& task : plan.tasks) {
    (is_backward ? level.backward : level.forward)(call, task, memory.get());
  }
}

Results of_kernel(const kernels::AttentionLevel& level, const Inputs& in, const Shape& shape, double scale,
                  std::int64_t num_threads) {
  const auto made = [](const at::Tensor& like) { return at::full_like(like, NAN); };
  Results found{{"out", made(in.q)}, {"q", made(in.q)}, {"k", made(in.k)}, {"v", made(in.v)}};
  found["log_sum"] = at::empty({shape.rows, shape.heads, shape.queries});
  kernels::Attention call;
  call.q = heads(in.q);
  call.k = heads(in.k);
  call.v = heads(in.v);
  call.out = heads(found["out"]);
  call.log_sum = {found["log_sum"].data_ptr<float>(), shape.heads * shape.queries, shape.queries, 1};
  call.grad_out = heads(in.grad);
  call.grad_q = heads(found["q"]);
  call.grad_k = heads(found["k"]);
  call.grad_v = heads(found["v"]);
  call.num_heads = shape.heads;
  call.num_kv_heads = shape.kv_heads;
  call.head_dim = shape.dim;
  call.scale = static_cast<float>(scale);
  call.is_causal = shape.is_causal;
  call.is_bfloat16 = in.q.scalar_type() == at::kBFloat16;
  for (const bool is_backward : {false, true}) {
    run_tasks(level, call, plan_attention(in.q, in.k, {}, is_backward, num_threads), is_backward);
  }
  return found;
}

/// The largest deviation over the largest value, or over 1, the inputs' size: with one key, gradients are 0.
double deviation(const at::Tensor& found, const at::Tensor& exact) {
  const at::Tensor wide = found.to(at::kDouble);
  if (!wide.isfinite().all().item<bool>()) return INFINITY;
  return ((wide - exact).abs().max() / exact.abs().max().clamp_min(1)).item<double>();
}

/// The same over all elements.
double norm_deviation(const at::Tensor& found, const at::Tensor& exact) {
  const auto size = static_cast<double>(exact.numel());
  return ((found.to(at::kDouble) - exact).norm() / exact.norm().clamp_min(std::sqrt(size))).item<double>();
}

std::string name_of(const Shape& shape) {
  return std::to_string(shape.rows) + "x" + std::to_string(shape.queries) + "x" + std::to_string(shape.keys) +
         " tokens, " + std::to_string(shape.heads) + "/" + std::to_string(shape.kv_heads) + " heads of " +
         std::to_string(shape.dim) + (shape.is_causal ? ", causal" : "");
}

const Shape kShapes[] = {
    {2, 96, 96, 4, 4, 16, true},   {1, 333, 333, 4, 2, 16, true},  {1, 200, 200, 4, 1, 32, true},
    {1, 150, 150, 2, 1, 64, true}, {1, 130, 130, 2, 2, 128, true}, {1, 70, 70, 2, 1, 8, true},
    {1, 75, 75, 2, 1, 24, true},   {1, 90, 90, 2, 1, 40, true},    {1, 65, 65, 1, 1, 120, true},
    {1, 1, 1, 2, 1, 16, true},     {1, 2, 2, 1, 1, 128, true},     {2, 17, 17, 2, 2, 48, true},
    {1, 100, 37, 2, 1, 16, true},  {1, 37, 100, 2, 1, 16, true},   {1, 100, 37, 2, 1, 64, false},
    {1, 37, 301, 2, 2, 16, false}, {1, 129, 129, 2, 1, 96, false}, {1, 1, 500, 2, 1, 32, false},
    {1, 500, 1, 2, 1, 16, false},  {1, 40, 1, 2, 1, 128, true},
};

class AttentionKernel : public ::testing::TestWithParam<const kernels::AttentionLevel*> {
 protected:
  void SetUp() override {
    at::manual_seed(3);
    if (!kernels::is_supported(*GetParam())) GTEST_SKIP() << "this processor has no " << GetParam()->name;
  }
};

TEST_P(AttentionKernel, Float32IsExactToRounding) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(name_of(shape));
    const double scale = 1 / std::sqrt(static_cast<double>(shape.dim));
    const Inputs in(shape, at::kFloat);
    const Results exact = written_out(in, shape, scale), found = of_kernel(*GetParam(), in, shape, scale, 2);
    for (const auto& [name, tensor] : exact)
      EXPECT_LE(deviation(found.at(name), tensor), shape.keys == 1 ? 1e-5 : 3e-6) << name;
  }
}

TEST_P(AttentionKernel, Bfloat16IsNoWorseThanLibtorch) {
  for (const Shape& shape : kShapes) {
    SCOPED_TRACE(name_of(shape));
    const double scale = 1 / std::sqrt(static_cast<double>(shape.dim));
    const bool has_many_tokens = shape.queries > 16 && shape.keys > 16;
    const Inputs in(shape, at::kBFloat16);
    const Results exact = written_out(in, shape, scale), theirs = of_libtorch(in, shape, scale),
                  found = of_kernel(*GetParam(), in, shape, scale, 2);
    for (const auto& [name, tensor] : exact) {
      // Where both are as good as their results' dtype, a tenth is chance; of a few tokens more.
      const double worst = has_many_tokens ? 1.1 * norm_deviation(theirs.at(name), tensor) : 1.0 / 256;
      EXPECT_LE(norm_deviation(found.at(name), tensor), worst + 1e-5) << name;
    }
  }
}

TEST_P(AttentionKernel, LargeScoresAreNoOverflow) {
  const Shape shape{1, 80, 80, 2, 1, 16, true};
  Inputs in(shape, at::kFloat);
  in.q.mul_(200);
  const Results exact = written_out(in, shape, 0.25), found = of_kernel(*GetParam(), in, shape, 0.25, 1);
  for (const auto& [name, tensor] : exact) EXPECT_LE(deviation(found.at(name), tensor), 2e-4) << name;
}

TEST_P(AttentionKernel, ANanIsNotHidden) {
  const Shape shape{1, 80, 80, 1, 1, 16, true};
  Inputs in(shape, at::kFloat);
  in.k[0][0][40][3] = NAN;
  const Results found = of_kernel(*GetParam(), in, shape, 0.25, 1);
  const at::Tensor is_nan = found.at("out").isnan().any(3)[0][0];
  EXPECT_FALSE(is_nan.narrow(0, 0, 40).any().item<bool>());
  EXPECT_TRUE(is_nan.narrow(0, 40, 40).all().item<bool>());
  for (const char* name : {"q", "k", "v"}) EXPECT_TRUE(found.at(name).isnan().any().item<bool>()) << name;
}

TEST_P(AttentionKernel, EveryPlanGivesTheSameBits) {
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    for (const Shape& shape : {Shape{1, 700, 700, 2, 1, 16, true}, Shape{1, 300, 500, 4, 1, 64, false},
                               Shape{3, 260, 260, 1, 1, 40, true}}) {
      SCOPED_TRACE(name_of(shape));
      const Inputs in(shape, type);
      const Results one = of_kernel(*GetParam(), in, shape, 0.2, 1);
      for (const std::int64_t num_threads : {2, 3, 16}) {
        const Results many = of_kernel(*GetParam(), in, shape, 0.2, num_threads);
        for (const auto& [name, tensor] : one) {
          EXPECT_TRUE(many.at(name).equal(tensor)) << name << " on " << num_threads << " threads";
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, AttentionKernel,
                         ::testing::ValuesIn(kernels::attention_levels().begin(), kernels::attention_levels().end()),
                         [](const auto& tested) { return std::string(tested.param->name); });

TEST(AttentionLevels, TheBestOneRuns) {
  const std::string expected = [] {
    const char* asked = std::getenv("TITAN_CPU_CAPABILITY");
    if (asked != nullptr) return std::string(asked);
    for (const auto* level : kernels::attention_levels()) {
      const bool is_slow = level->name == "avx512_bf16" && tensor::has_slow_bf16_pairs();
      if (kernels::is_supported(*level) && !is_slow) return std::string(level->name);
    }
    return std::string();
  }();
  EXPECT_EQ(kernels::attention_level().name, expected);
}

}  // namespace
}  // namespace titan::nn
