#include "core/optim/adamw.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace titan::optim {
namespace {

struct Parameters {
  explicit Parameters(std::vector<std::string> names, at::ScalarType type = at::kFloat) {
    auto generator = at::detail::createCPUGenerator(7);
    for (auto& name : names) {
      auto& made = owned.emplace_back(std::make_unique<nn::Parameter>());
      made->name = std::move(name);
      made->storage = at::randn({5, 3}, generator, at::TensorOptions(at::kDouble)).to(type).set_requires_grad(true);
      made->gradient = at::randn({5, 3}, generator, at::TensorOptions(at::kDouble)).to(type);
      all.push_back(made.get());
    }
  }
  std::vector<std::unique_ptr<nn::Parameter>> owned;
  std::vector<nn::Parameter*> all;
};

AdamOptimizer make(Parameters& parameters, const AdamOptions& options, Implementation implementation,
                   const std::string& rules = "[]") {
  return AdamOptimizer(parameters.all, parse_group_rules(rules, options), options, implementation);
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.detach().to(at::kDouble) - b.detach().to(at::kDouble)).abs().max().item<double>();
}

TEST(AdamOptimizer, FirstStepMovesByTheRateAgainstTheGradientsSign) {
  Parameters p({"w"});
  const at::Tensor before = p.all[0]->storage.detach().clone();
  auto optimizer = make(p, {.lr = 0.5, .eps = 0, .weight_decay = 0}, Implementation::for_loop);
  optimizer.step(0.5);
  const at::Tensor expected = before - 0.25 * p.all[0]->gradient.sign();
  EXPECT_LT(largest_difference(p.all[0]->storage, expected), 1e-6);
}

TEST(AdamOptimizer, ParametersOfOtherStagesBelongToGroupsAndAreNotTrained) {
  for (const Implementation implementation : {Implementation::fused, Implementation::for_loop}) {
    Parameters p({"here.w", "there.w"});
    p.all[1]->storage = at::Tensor();
    p.all[1]->gradient = at::Tensor();
    auto optimizer =
        make(p, {.lr = 0.5}, implementation, R"([{"pattern": "there", "optimizer_kwargs": {"lr": 0.25}}])");
    ASSERT_EQ(optimizer.groups().size(), 2U);
    EXPECT_TRUE(optimizer.groups()[0].parameters.empty());
    EXPECT_EQ(optimizer.groups()[1].parameters.size(), 1U);
    EXPECT_EQ(optimizer.lr(1), 0.25) << "the same on every rank";
    EXPECT_NO_THROW(optimizer.step(1));
  }
}

TEST(AdamOptimizer, DecoupledDecayShrinksWithoutGradient) {
  Parameters p({"w"});
  p.all[0]->gradient.zero_();
  const at::Tensor before = p.all[0]->storage.detach().clone();
  make(p, {.lr = 0.1, .weight_decay = 0.5}, Implementation::fused).step(1.0);
  EXPECT_LT(largest_difference(p.all[0]->storage, before * 0.95), 1e-6);
}

TEST(AdamOptimizer, FusedAgreesWithTheForLoop) {
  for (const auto algorithm : {Algorithm::adam, Algorithm::adamw}) {
    for (const auto& [type, tolerance] : {std::pair{at::kDouble, 1e-13}, {at::kFloat, 1e-6}, {at::kBFloat16, 0.05}}) {
      Parameters a({"w", "v"}, type);
      Parameters b({"w", "v"}, type);
      AdamOptions options;
      options.algorithm = algorithm;
      options.lr = 0.01;
      auto fused = make(a, options, Implementation::fused);
      auto loop = make(b, options, Implementation::for_loop);
      for (int step = 0; step < 5; ++step) {
        fused.step(1.0 - 0.1 * step);
        loop.step(1.0 - 0.1 * step);
      }
      for (std::size_t i = 0; i < a.all.size(); ++i) {
        EXPECT_LT(largest_difference(a.all[i]->storage, b.all[i]->storage), tolerance) << type;
        EXPECT_EQ(a.all[i]->storage.scalar_type(), type);
      }
    }
  }
}

TEST(AdamOptimizer, EachGroupHasItsOwnRateTimesTheFactor) {
  Parameters p({"norm.weight", "output.weight"});
  p.all[0]->gradient.fill_(1);
  p.all[1]->gradient.fill_(1);
  const at::Tensor first = p.all[0]->storage.detach().clone();
  const at::Tensor second = p.all[1]->storage.detach().clone();
  auto optimizer = make(p, {.lr = 0.1, .weight_decay = 0}, Implementation::fused,
                        R"([{"pattern": "norm", "optimizer_kwargs": {"lr": 0.01}}])");
  optimizer.step(0.5);
  EXPECT_LT(largest_difference(p.all[0]->storage, first - 0.005), 1e-6);
  EXPECT_LT(largest_difference(p.all[1]->storage, second - 0.05), 1e-6);
  EXPECT_DOUBLE_EQ(optimizer.lr(0.5), 0.005);
}

TEST(AdamOptimizer, CastsGradientsOfAnotherDtype) {
  Parameters wide({"w"});
  Parameters narrow({"w"});
  wide.all[0]->gradient = wide.all[0]->gradient.to(at::kBFloat16).to(at::kFloat);
  narrow.all[0]->gradient = narrow.all[0]->gradient.to(at::kBFloat16);
  make(wide, {}, Implementation::fused).step(1.0);
  make(narrow, {}, Implementation::fused).step(1.0);
  EXPECT_EQ(largest_difference(wide.all[0]->storage, narrow.all[0]->storage), 0.0);
}

TEST(AdamOptimizer, TakesGradientsOfAnotherLayout) {
  Parameters plain({"w"});
  Parameters strided({"w"});
  strided.all[0]->gradient = strided.all[0]->gradient.t().contiguous().t();
  make(plain, {}, Implementation::fused).step(1.0);
  make(strided, {}, Implementation::fused).step(1.0);
  EXPECT_EQ(largest_difference(plain.all[0]->storage, strided.all[0]->storage), 0.0);
}

TEST(AdamOptimizer, KeepsStateInTheStoragesDtypeAndCountsSteps) {
  Parameters p({"w"}, at::kBFloat16);
  auto optimizer = make(p, {}, Implementation::fused);
  optimizer.step(1.0);
  optimizer.step(1.0);
  const AdamState& state = optimizer.groups()[0].states[0];
  EXPECT_EQ(state.exp_avg.scalar_type(), at::kBFloat16);
  EXPECT_EQ(state.exp_avg_sq.sizes(), p.all[0]->storage.sizes());
  EXPECT_EQ(state.step.item<float>(), 2.0f);
}

TEST(AdamOptimizer, RefusesAMissingGradientByName) {
  Parameters p({"layers.0.w1.weight"});
  p.all[0]->gradient = at::Tensor();
  auto optimizer = make(p, {}, Implementation::fused);
  try {
    optimizer.step(1.0);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("layers.0.w1.weight"));
  }
}

TEST(AdamOptimizer, APartWithoutElementsChangesNothing) {
  for (const auto implementation : {Implementation::fused, Implementation::for_loop}) {
    Parameters with({"w", "empty"});
    Parameters without({"w"});
    with.all[1]->storage = at::empty({0, 3}).set_requires_grad(true);
    with.all[1]->gradient = at::empty({0, 3});
    make(with, {}, implementation).step(1.0);
    make(without, {}, implementation).step(1.0);
    EXPECT_EQ(largest_difference(with.all[0]->storage, without.all[0]->storage), 0);
  }
}

}  // namespace
}  // namespace titan::optim
