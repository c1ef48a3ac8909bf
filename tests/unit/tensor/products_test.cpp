#include "core/tensor/products.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

namespace titan::tensor {
namespace {

using Sizes = std::array<std::int64_t, 3>;  // m, k, n

// From too small for the fast way to odd in every dim, deep, wide and flat.
constexpr std::array kShapes = {Sizes{3, 5, 7},        Sizes{16, 16, 16},    Sizes{129, 257, 255}, Sizes{17, 4099, 131},
                                Sizes{2048, 64, 65},   Sizes{16, 16, 40000}, Sizes{300, 1, 300},   Sizes{0, 40, 50},
                                Sizes{1031, 509, 515}, Sizes{17, 8191, 1001}};

at::Tensor random(std::int64_t rows, std::int64_t columns) { return at::randn({rows, columns}); }

/// The same numbers laid out otherwise: 0 by rows, 1 by columns, 2 as a part of wider rows, 3 every other column.
at::Tensor laid_out(const at::Tensor& matrix, int layout) {
  const std::int64_t rows = matrix.size(0), columns = matrix.size(1);
  if (layout == 1) return matrix.t().contiguous().t();
  if (layout == 2) return at::zeros({rows, columns + 3}).narrow(1, 1, columns).copy_(matrix);
  if (layout == 3) return at::zeros({rows, 2 * columns}).slice(1, 0, 2 * columns, 2).copy_(matrix);
  return matrix;
}

/// The largest error over what rounding k sums of fp32 products may bring.
double excess(const at::Tensor& out, const at::Tensor& a, const at::Tensor& b) {
  if (out.numel() == 0) return 0;
  const at::Tensor wide_a = a.to(at::kDouble), wide_b = b.to(at::kDouble);
  const at::Tensor error = (out.to(at::kDouble) - at::mm(wide_a, wide_b)).abs();
  return (error / (at::mm(wide_a.abs(), wide_b.abs()) * 1e-6 + 1e-30)).max().item<double>();
}

TEST(Products, AreFloat32sInEveryShapeAndLayout) {
  for (const auto& [m, k, n] : kShapes) {
    const at::Tensor a = random(m, k), b = random(k, n);
    for (int layout = 0; layout < 16; ++layout) {
      SCOPED_TRACE(std::to_string(m) + " " + std::to_string(k) + " " + std::to_string(n) + " layout " +
                   std::to_string(layout));
      const at::Tensor left = laid_out(a, layout % 4), right = laid_out(b, layout / 4);
      const at::Tensor made = at::mm(left, right);
      ASSERT_EQ(made.sizes(), at::IntArrayRef({m, n}));
      EXPECT_LT(excess(made, a, b), 1);
      at::Tensor filled = at::full({m, n}, std::nan(""), at::kFloat);
      at::mm_out(filled, left, right);
      EXPECT_TRUE(filled.equal(made));
      at::Tensor sum = at::ones({m, n});
      sum.addmm_(left, right);
      EXPECT_TRUE(sum.allclose(made + 1, 1e-5, 1e-4));
      filled.addmm_(left, right);
      EXPECT_LT(excess(filled / 2, a, b), 1);
    }
  }
}

TEST(Products, GiveTheSameBitsAgain) {
  const at::Tensor a = random(4096, 256), b = random(4096, 256).t().contiguous().t();
  const at::Tensor first = at::mm(a.t(), b);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(at::mm(a.t(), b).equal(first));
}

TEST(Products, OfAnotherNumberOfThreadsDifferByRoundingAlone) {
  const at::Tensor a = random(1000, 300), b = random(300, 500);
  const int before = at::get_num_threads();
  for (const int threads : {1, 2, 3}) {
    at::set_num_threads(threads);
    EXPECT_LT(excess(at::mm(a, b), a, b), 1) << threads;
  }
  at::set_num_threads(before);
}

TEST(Products, InfinityAndNaNShow) {
  at::Tensor a = at::ones({512, 512});
  a[0][0] = std::numeric_limits<float>::infinity();
  a[1][0] = std::nan("");
  const at::Tensor out = at::mm(a, at::ones({512, 64}));
  EXPECT_TRUE(out[0].isinf().all().item<bool>());
  EXPECT_TRUE(out[1].isnan().all().item<bool>());
  EXPECT_EQ(out[2][0].item<float>(), 512);
}

TEST(Products, ThatDoNotPayAreLeftToLibtorch) {
  const at::Tensor big = random(1024, 1024);
  EXPECT_FALSE(is_fast_product(random(128, 64), random(64, 64)));
  EXPECT_FALSE(is_fast_product(big, random(1024, 8)));
  EXPECT_FALSE(is_fast_product(big.to(at::kDouble), big.to(at::kDouble)));
  EXPECT_FALSE(is_fast_product(big.to(at::kBFloat16), big.to(at::kBFloat16)));
  EXPECT_FALSE(is_fast_product(big, random(1, 1024).expand({1024, 1024})));
  EXPECT_FALSE(is_fast_product(big.to(at::kMeta), big.to(at::kMeta)));
  EXPECT_EQ(is_fast_product(big, big.t()), has_fast_products());
}

TEST(Products, AreWhatTheOperatorsOfLibtorchRun) {
  use_fast_products();
  for (const auto& [name, overload] : {std::pair{"aten::mm", ""}, {"aten::mm", "out"}, {"aten::addmm_", ""}}) {
    const std::string kernels = c10::Dispatcher::singleton().findSchemaOrThrow(name, overload).dumpState();
    EXPECT_NE(kernels.find("products.cpp"), std::string::npos) << kernels;
  }
}

TEST(Products, CanBeTakenOutForAComparison) {
  const at::Tensor big = random(1024, 1024);
  {
    const WithoutFastProducts plain;
    EXPECT_FALSE(is_fast_product(big, big));
    EXPECT_LT(excess(at::mm(big, big), big, big), 1);
  }
  EXPECT_EQ(is_fast_product(big, big), has_fast_products());
}

TEST(Products, OtherFactorsOfASumAreKept) {
  const at::Tensor a = random(1200, 600), b = random(600, 400), sum = random(1200, 400);
  const at::Tensor expected = sum * 0.5 + at::mm(a, b) * 2;
  EXPECT_TRUE(sum.clone().addmm_(a, b, 0.5, 2).allclose(expected, 1e-5, 1e-3));
  EXPECT_TRUE(random(1, 400).zero_().expand({1200, 400}).clone().addmm_(a, b).allclose(at::mm(a, b), 1e-5, 1e-3));
}

TEST(Products, OfWrongSizesAreRefusedAsLibtorchDoesIt) {
  at::Tensor out = random(512, 512);
  const at::Tensor vector = at::ones({512});
  const auto refusal = [](const auto& product) {
    try {
      product();
    } catch (const c10::Error& error) {
      return std::string(error.what_without_backtrace());
    }
    return std::string("none");
  };
  const auto of_vector = [&] { at::mm_out(out, random(512, 512), vector); };
  EXPECT_NE(refusal([] { at::mm(random(512, 512), random(511, 512)); }), "none");
  EXPECT_NE(refusal(of_vector).find("must be a matrix"), std::string::npos) << refusal(of_vector);
  EXPECT_NE(refusal([&] { out.addmm_(vector, random(512, 512)); }), "none");
}

}  // namespace
}  // namespace titan::tensor
