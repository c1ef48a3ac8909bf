#include "core/optim/adam_pass.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "core/optim/adam_operators.hpp"
#include "core/optim/adamw.hpp"

namespace titan::optim {
namespace {

// Not multiples of any vector, block or slice, and one above two slices.
const std::vector<std::int64_t> kSizes = {1, 15, 17, 2049, 40'001};

struct Dtypes {
  at::ScalarType storage, gradient, compute;
};

/// Some parameters with gradients, and states as after a few steps; the same for the same dtypes.
struct Members {
  explicit Members(const Dtypes& types) {
    auto generator = at::detail::createCPUGenerator(7);
    const auto random = [&](std::int64_t size) { return at::randn({size}, generator, at::TensorOptions(at::kDouble)); };
    groups.push_back({"", {.lr = 0.01}, {}, {}});
    groups.push_back({"Adam", {.algorithm = Algorithm::adam, .lr = 0.02}, {}, {}});
    for (const std::int64_t size : kSizes) {
      for (AdamGroup& group : groups) {
        nn::Parameter& made = *owned.emplace_back(std::make_unique<nn::Parameter>());
        made.storage = random(size).to(types.storage).set_requires_grad(true);
        made.compute = types.compute == types.storage ? made.storage : at::zeros({size}, types.compute);
        made.gradient = random(size).to(types.gradient);
        group.parameters.push_back(&made);
        group.states.push_back({random(size).mul(0.1).to(types.storage),
                                random(size).square().mul(0.01).to(types.storage), at::full({}, 3, at::kFloat)});
      }
    }
  }

  std::vector<std::unique_ptr<nn::Parameter>> owned;
  std::vector<AdamGroup> groups;
};

/// The largest error over what the tolerance allows, relative and absolute.
double excess(const at::Tensor& actual, const at::Tensor& expected, double tolerance) {
  const at::Tensor wide = expected.detach().to(at::kDouble);
  return ((actual.detach().to(at::kDouble) - wide).abs() / (tolerance * (wide.abs() + 1))).max().item<double>();
}

class AdamPassOf : public ::testing::TestWithParam<Dtypes> {};

TEST_P(AdamPassOf, AgreesWithLibtorchsKernel) {
  const Dtypes types = GetParam();
  Members ours(types), theirs(types);
  ASSERT_TRUE(has_adam_pass(ours.groups));
  const AdamStep step{0.7, 0.25};
  for (int i = 0; i < 3; ++i) {
    adam_pass(ours.groups, step);
    for (AdamGroup& group : theirs.groups) fused_step(group, step);
  }
  const double tolerance = types.storage == at::kFloat ? 5e-7 : 0.02;
  for (std::size_t g = 0; g < ours.groups.size(); ++g) {
    for (std::size_t i = 0; i < kSizes.size(); ++i) {
      SCOPED_TRACE(kSizes[i]);
      const AdamState &a = ours.groups[g].states[i], &b = theirs.groups[g].states[i];
      EXPECT_LT(excess(ours.groups[g].parameters[i]->storage, theirs.groups[g].parameters[i]->storage, tolerance), 1);
      EXPECT_LT(excess(a.exp_avg, b.exp_avg, tolerance), 1);
      EXPECT_LT(excess(a.exp_avg_sq, b.exp_avg_sq, tolerance), 1);
      EXPECT_EQ(a.step.item<float>(), 6.0F);
    }
  }
}

TEST_P(AdamPassOf, WritesTheComputeFormAsACastWould) {
  Members members(GetParam());
  adam_pass(members.groups, {});
  for (const auto& parameter : members.owned) {
    EXPECT_TRUE(parameter->compute.equal(parameter->storage.detach().to(GetParam().compute)));
  }
}

TEST_P(AdamPassOf, DoesNotDependOnTheNumberOfThreads) {
  Members one(GetParam()), three(GetParam());
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  adam_pass(one.groups, {});
  at::set_num_threads(3);
  adam_pass(three.groups, {});
  at::set_num_threads(before);
  for (std::size_t i = 0; i < one.owned.size(); ++i) {
    EXPECT_TRUE(one.owned[i]->storage.equal(three.owned[i]->storage));
  }
}

TEST_P(AdamPassOf, LeavesGradientsAloneAndTellsAutogradOfTheRest) {
  Members members(GetParam());
  const nn::Parameter& parameter = *members.owned.back();
  const at::Tensor gradient = parameter.gradient.clone();
  const auto version = parameter.storage._version();
  adam_pass(members.groups, {1, 0.5});
  EXPECT_TRUE(parameter.gradient.equal(gradient));
  EXPECT_GT(parameter.storage._version(), version);
}

INSTANTIATE_TEST_SUITE_P(Dtypes, AdamPassOf,
                         ::testing::Values(Dtypes{at::kFloat, at::kFloat, at::kBFloat16},
                                           Dtypes{at::kFloat, at::kBFloat16, at::kFloat},
                                           Dtypes{at::kBFloat16, at::kFloat, at::kFloat},
                                           Dtypes{at::kBFloat16, at::kBFloat16, at::kBFloat16}),
                         [](const auto& test) {
                           return std::string(at::toString(test.param.storage)) + "From" +
                                  at::toString(test.param.gradient) + "To" + at::toString(test.param.compute);
                         });

TEST(AdamPass, LeavesAComputeFormAloneThatAStrategyLooksAfter) {
  Members members({at::kFloat, at::kFloat, at::kBFloat16});
  members.owned[0]->owned_forms = TITAN_OWN_COMPUTE;
  adam_pass(members.groups, {});
  EXPECT_EQ(members.owned[0]->compute.abs().sum().item<float>(), 0);
}

TEST(AdamPass, IsNotForFloat64NorForStridedStorage) {
  Members wide({at::kDouble, at::kDouble, at::kDouble});
  EXPECT_FALSE(has_adam_pass(wide.groups));
  Members strided({at::kFloat, at::kFloat, at::kFloat});
  strided.owned[1]->storage = at::zeros({4, 4}).t().slice(0, 0, 2);
  EXPECT_FALSE(has_adam_pass(strided.groups));
}

TEST(AdamOptimizer, SaysWhetherItWroteTheComputeForms) {
  Members members({at::kFloat, at::kFloat, at::kBFloat16});
  std::vector<nn::Parameter*> all;
  for (const auto& parameter : members.owned) all.push_back(parameter.get());
  EXPECT_TRUE(AdamOptimizer(all, {}, {}, Implementation::fused).step(1));
  EXPECT_FALSE(AdamOptimizer(all, {}, {}, Implementation::for_loop).step(1));
}

}  // namespace
}  // namespace titan::optim
