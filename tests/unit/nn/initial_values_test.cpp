#include "core/nn/initial_values.hpp"

#include <ATen/ops/_unique.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace titan::nn {
namespace {

Parameter parameter(const std::string& name, std::vector<std::int64_t> shape, const Init& init) {
  Parameter made;
  made.name = name;
  made.shape = std::move(shape);
  made.init = init;
  return made;
}

const Init kNormal{.kind = TITAN_INIT_NORMAL, .mean = 1, .std = 2};
const Init kCut{.kind = TITAN_INIT_TRUNC_NORMAL, .mean = 0.5, .std = 1, .low = -0.5, .high = 1};

at::Tensor all(const Parameter& of, std::uint64_t seed = 5, at::ScalarType dtype = at::kFloat) {
  return initial_values(of, seed, whole(of.shape), dtype);
}

TEST(InitialValues, EveryPartEqualsTheSliceOfTheWhole) {
  const Parameter cube = parameter("a", {5, 7, 9}, kNormal);
  const at::Tensor everything = all(cube);
  const std::vector<Box> parts = {{{0, 0, 0}, {5, 7, 9}}, {{1, 2, 3}, {3, 4, 5}}, {{4, 6, 8}, {1, 1, 1}},
                                  {{2, 0, 0}, {2, 7, 9}}, {{0, 3, 0}, {5, 2, 9}}, {{0, 0, 4}, {5, 7, 1}}};
  for (const Box& part : parts) {
    at::Tensor slice = everything;
    for (std::int64_t dim = 0; dim < 3; ++dim) {
      const auto index = static_cast<std::size_t>(dim);
      slice = slice.narrow(dim, part.offset[index], part.size[index]);
    }
    EXPECT_TRUE(initial_values(cube, 5, part, at::kFloat).equal(slice));
  }
  EXPECT_EQ(initial_values(cube, 5, {{0, 0, 0}, {0, 7, 9}}, at::kFloat).numel(), 0);
}

TEST(InitialValues, LargeParametersFilledByManyThreadsAreTheSame) {
  const Parameter large = parameter("a", {300, 1000}, kCut);
  const at::Tensor everything = all(large);
  for (const std::int64_t row : {0, 17, 299}) {
    EXPECT_TRUE(initial_values(large, 5, {{row, 0}, {1, 1000}}, at::kFloat)[0].equal(everything[row])) << row;
  }
}

TEST(InitialValues, SeedNameAndIndexAllMatter) {
  const Parameter a = parameter("a", {100}, kNormal), b = parameter("b", {100}, kNormal);
  EXPECT_TRUE(all(a).equal(all(a)));
  EXPECT_FALSE(all(a, 5).equal(all(a, 6)));
  EXPECT_FALSE(all(a).equal(all(b)));
  EXPECT_EQ(std::get<0>(at::_unique(all(a))).numel(), 100);
  EXPECT_TRUE(all(parameter("a", {10, 10}, kNormal)).flatten().equal(all(a))) << "the shape does not matter";
}

TEST(InitialValues, FollowTheirDistributions) {
  const at::Tensor normal = all(parameter("n", {400000}, kNormal), 1, at::kDouble);
  EXPECT_NEAR(normal.mean().item<double>(), 1, 0.02);
  EXPECT_NEAR(normal.std().item<double>(), 2, 0.01);
  const at::Tensor cut = all(parameter("t", {400000}, kCut), 1, at::kDouble);
  EXPECT_GE(cut.min().item<double>(), -0.5);
  EXPECT_LE(cut.max().item<double>(), 1.0);
  // Mean and deviation of a normal (0.5, 1) cut to [-0.5, 1].
  EXPECT_NEAR(cut.mean().item<double>(), 0.29337, 0.003);
  EXPECT_NEAR(cut.std().item<double>(), 0.41566, 0.003);
  EXPECT_TRUE(all(parameter("c", {3, 2}, {.kind = TITAN_INIT_CONSTANT, .value = 0.75})).equal(at::full({3, 2}, 0.75)));
}

TEST(InitialValues, NarrowDtypesAreTheRoundedWideOnes) {
  const Parameter a = parameter("a", {1000}, kNormal);
  const at::Tensor exact = all(a, 5, at::kDouble);
  EXPECT_TRUE(all(a, 5, at::kFloat).equal(exact.to(at::kFloat)));
  EXPECT_TRUE(all(a, 5, at::kBFloat16).equal(exact.to(at::kFloat).to(at::kBFloat16)));
}

TEST(InitialValues, NoSpreadGivesTheMean) {
  const Init still{.kind = TITAN_INIT_TRUNC_NORMAL, .mean = 0.5, .std = 0, .low = 0, .high = 1};
  EXPECT_TRUE(all(parameter("a", {4}, still)).equal(at::full({4}, 0.5)));
}

TEST(InitialValues, WrongBoxesAndDtypesAreRefused) {
  const Parameter a = parameter("a", {4, 4}, kNormal);
  EXPECT_THROW(initial_values(a, 0, {{0}, {4}}, at::kFloat), InternalError);
  EXPECT_THROW(initial_values(a, 0, {{1, 0}, {4, 4}}, at::kFloat), InternalError);
  EXPECT_THROW(initial_values(a, 0, {{-1, 0}, {1, 1}}, at::kFloat), InternalError);
  EXPECT_THROW(all(a, 0, at::kLong), ConfigError);
}

}  // namespace
}  // namespace titan::nn
