#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/nn/rope_table.hpp"
#include "tests/unit/nn/fused_reference.hpp"

namespace titan::nn {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using titan::testing::expect_close_to_fp64;
using titan::testing::LeafTree;

const std::map<std::string, Attribute> kAttributes = {{"theta", 10000.0}, {"max_positions", std::int64_t{64}}};

TEST(Rope, IsCloseToFp64) {
  for (const std::int64_t head_dim : {2, 6, 16, 64}) {
    const at::Tensor q = at::randn({2, 40, 3, head_dim}), k = at::randn({2, 40, 1, head_dim});
    const at::Tensor positions = at::randint(64, {2, 40}, at::kLong);
    expect_close_to_fp64("titan.rope", kAttributes, {}, {q, k, positions}, 2, at::kFloat, 1e-6);
    expect_close_to_fp64("titan.rope", kAttributes, {}, {q, k, positions}, 2, at::kBFloat16, 1e-2);
  }
}

TEST(Rope, RotationKeepsLengthsAndPositionZeroStaysItself) {
  LeafTree leaf("titan.rope", kAttributes);
  const at::Tensor x = at::randn({1, 64, 2, 8});
  const auto out = leaf({x, x, at::arange(64).unsqueeze(0)}, 2);
  EXPECT_TRUE(out[0].norm(2, -1).allclose(x.norm(2, -1)));
  EXPECT_TRUE(out[0][0][0].equal(x[0][0]));
  EXPECT_FALSE(out[0][0][5].allclose(x[0][5]));
}

TEST(Rope, StridedInputsGiveTheSame) {
  LeafTree leaf("titan.rope", kAttributes);
  const at::Tensor x = at::randn({2, 3, 5, 8}).transpose(1, 2), positions = at::arange(10).view({5, 2}).t();
  const auto strided = leaf({x, x, positions}, 2);
  const auto dense = leaf({x.contiguous(), x.contiguous(), positions.contiguous()}, 2);
  EXPECT_TRUE(strided[0].equal(dense[0]));
}

TEST(Rope, PositionsOutsideTheTableAreRefused) {
  LeafTree leaf("titan.rope", kAttributes);
  const at::Tensor x = at::zeros({1, 1, 1, 4});
  const auto expect = [&](std::int64_t position, const char* text) {
    const at::Tensor positions = at::ones({1, 1}, at::kLong) * position;
    EXPECT_THAT([&] { leaf({x, x, positions}, 2); }, ThrowsMessage<PluginError>(HasSubstr(text)));
  };
  expect(64, "[leaf] position out of range: 64, max_positions is 64");
  expect(-1, "[leaf] position out of range: -1");
}

TEST(Rope, WrongInputsAndAttributesAreNamed) {
  LeafTree leaf("titan.rope", kAttributes);
  const at::Tensor x = at::zeros({1, 3, 2, 4}), positions = at::zeros({1, 3}, at::kLong);
  const auto expect = [&](const Tensors& in, const char* text) {
    EXPECT_THAT([&] { leaf(in, 2); }, ThrowsMessage<PluginError>(HasSubstr(text)));
  };
  expect({x, x}, "takes 3, given 2");
  expect({x.slice(3, 0, 3), x.slice(3, 0, 3), positions}, "head dim must be even: 3");
  expect({x, x.slice(1, 0, 2), positions}, "k must have 3 in dim 1");
  expect({x, x, positions.to(at::kInt)}, "positions is Int");
  expect({x, x, at::zeros({3}, at::kLong)}, "positions must have 2");
  EXPECT_THAT(
      [] {
        LeafTree no_theta("titan.rope", {{"max_positions", std::int64_t{1}}});
      },
      ThrowsMessage<PluginError>(HasSubstr("missing: theta")));
  auto scaled = kAttributes;
  scaled["scaling_factor"] = 8.0;
  EXPECT_THAT([&] { LeafTree half("titan.rope", scaled); },
              ThrowsMessage<PluginError>(HasSubstr("missing: low_freq_factor")));
  scaled["low_freq_factor"] = scaled["high_freq_factor"] = 4.0;
  scaled["original_max_positions"] = std::int64_t{32};
  EXPECT_THAT([&] { LeafTree flat("titan.rope", scaled); },
              ThrowsMessage<PluginError>(HasSubstr("high_freq_factor must be above low_freq_factor: 4, 4")));
}

TEST(RopeTables, AreSharedAndGrow) {
  RopeTables tables;
  const RopeSpec spec{10000, std::nullopt};
  const at::Tensor first = tables.get(spec, 8, 10, at::kFloat);
  EXPECT_TRUE(tables.get(spec, 8, 20, at::kFloat).is_same(first));
  EXPECT_FALSE(tables.get(spec, 16, 20, at::kFloat).is_same(first));
  const at::Tensor grown = tables.get(spec, 8, first.size(0) + 1, at::kFloat);
  EXPECT_GT(grown.size(0), first.size(0));
  EXPECT_TRUE(grown.slice(0, 0, first.size(0)).equal(first));
  EXPECT_EQ(tables.get(spec, 8, 10, at::kDouble).scalar_type(), at::kDouble);
}

}  // namespace
}  // namespace titan::nn
