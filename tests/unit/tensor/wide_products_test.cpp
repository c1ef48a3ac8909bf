#include "core/tensor/wide_products.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>

#include "core/tensor/processor.hpp"
#include "core/tensor/products.hpp"

namespace titan::tensor {
namespace {

using Sizes = std::array<std::int64_t, 3>;  // m, k, n

// Within one block, odd ones, and several blocks along each dim.
constexpr std::array kShapes = {Sizes{1, 1, 1},      Sizes{17, 33, 65},   Sizes{2049, 40, 24},   Sizes{40, 24, 1025},
                                Sizes{24, 2100, 40}, Sizes{300, 513, 70}, Sizes{2050, 520, 1030}};

at::Tensor random(std::int64_t rows, std::int64_t columns) { return at::randn({rows, columns}).to(at::kBFloat16); }
at::Tensor by_columns(const at::Tensor& matrix) { return matrix.t().contiguous().t(); }

/// The largest error over half a unit in the last place of bf16, with fp32's rounding of sums on top.
double excess(const at::Tensor& out, const at::Tensor& exact, const at::Tensor& magnitude) {
  const at::Tensor error = (out.to(at::kDouble) - exact).abs();
  return (error / (exact.abs() / 256 + magnitude * 1e-6 + 1e-30)).max().item<double>();
}

TEST(WideProducts, AreRoundedOnceInEveryShapeAndLayout) {
  at::manual_seed(5);
  for (const auto& [m, k, n] : kShapes) {
    const at::Tensor a = random(m, k), b = random(k, n), before = random(m, n);
    const at::Tensor exact = at::mm(a.to(at::kDouble), b.to(at::kDouble)),
                     magnitude = at::mm(a.to(at::kDouble).abs(), b.to(at::kDouble).abs());
    for (int layout = 0; layout < 4; ++layout) {
      SCOPED_TRACE(std::to_string(m) + " " + std::to_string(k) + " " + std::to_string(n) + " layout " +
                   std::to_string(layout));
      const at::Tensor left = layout % 2 == 1 ? by_columns(a) : a, right = layout / 2 == 1 ? by_columns(b) : b;
      const at::Tensor out = at::full({m, n}, std::nan(""), at::kBFloat16), sum = before.clone();
      multiply_wide(left, right, out, /*adds=*/false);
      EXPECT_LE(excess(out, exact, magnitude), 1);
      multiply_wide(left, right, sum, /*adds=*/true);
      EXPECT_LE(excess(sum, exact + before.to(at::kDouble), magnitude + before.to(at::kDouble).abs()), 1);
    }
  }
}

TEST(WideProducts, ReadPartsOfWiderRows) {
  const at::Tensor wide = random(64, 100), b = random(48, 32), out = at::empty({64, 32}, at::kBFloat16);
  multiply_wide(wide.narrow(1, 7, 48), b, out, false);
  const at::Tensor dense = at::empty({64, 32}, at::kBFloat16);
  multiply_wide(wide.narrow(1, 7, 48).contiguous(), b, dense, false);
  EXPECT_TRUE(out.equal(dense));
}

TEST(WideProducts, KeepInfinityAndNaN) {
  at::Tensor a = at::ones({8, 40}, at::kBFloat16);
  a[0][3] = std::numeric_limits<float>::infinity();
  a[1][3] = std::nan("");
  const at::Tensor out = at::empty({8, 16}, at::kBFloat16);
  multiply_wide(a, at::ones({40, 16}, at::kBFloat16), out, false);
  EXPECT_TRUE(out[0].isinf().all().item<bool>());
  EXPECT_TRUE(out[1].isnan().all().item<bool>());
  EXPECT_EQ(out[2][0].item<float>(), 40);
}

TEST(WideProducts, OfThreadsDoNotMeet) {
  const at::Tensor a = random(700, 600), b = random(600, 300), expected = at::empty({700, 300}, at::kBFloat16);
  multiply_wide(a, b, expected, false);
  std::array<at::Tensor, 3> found;
  {
    std::array<std::jthread, 3> threads;
    for (std::size_t i = 0; i < threads.size(); ++i) {
      found[i] = at::empty({700, 300}, at::kBFloat16);
      threads[i] = std::jthread([&, i] { multiply_wide(a, b, found[i], false); });
    }
  }
  for (const at::Tensor& out : found) EXPECT_TRUE(out.allclose(expected, 1e-2, 1e-2));
}

TEST(WideProducts, AreTakenWhereTheyPay) {
  const at::Tensor big = random(512, 512);
  EXPECT_EQ(is_wide_product(big, big), has_wide_products());
  EXPECT_FALSE(is_wide_product(random(32, 32), random(32, 32)));
  EXPECT_FALSE(is_wide_product(big, random(512, 8)));
  EXPECT_FALSE(is_wide_product(big.to(at::kFloat), big.to(at::kFloat)));
  EXPECT_FALSE(is_wide_product(big.to(at::kMeta), big.to(at::kMeta)));
  EXPECT_TRUE(!has_wide_products() || has_slow_bf16_pairs());
  const WithoutFastProducts plain;
  EXPECT_FALSE(is_wide_product(big, big));
}

TEST(WideProducts, AreWhatTheOperatorGives) {
  use_fast_products();
  const at::Tensor a = random(600, 400), b = random(400, 300), out = at::empty({600, 300}, at::kBFloat16);
  if (!is_wide_product(a, b)) GTEST_SKIP() << "bf16 products are libtorch's on this processor";
  multiply_wide(a, b, out, false);
  EXPECT_TRUE(at::mm(a, b).equal(out));
  at::Tensor filled = at::empty_like(out);
  at::mm_out(filled, a, b);
  EXPECT_TRUE(filled.equal(out));
}

}  // namespace
}  // namespace titan::tensor
