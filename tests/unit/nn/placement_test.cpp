#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/nn/initial_values.hpp"
#include "core/nn/tree.hpp"
#include "tests/support/declare.hpp"

namespace titan::nn {
namespace {

using config::Axis;
using ::testing::HasSubstr;
using titan::testing::declare;

constexpr Precision kSingle{at::kFloat, at::kFloat, at::kFloat};

/// pp 1, dp_replicate 2, dp_shard 3, cp 1, tp 2.
config::Mesh mesh() { return {{1, 2, 3, 1, 2}, 12}; }

std::string thrown(const std::function<void()>& body) {
  try {
    body();
  } catch (const PluginError& error) {
    return error.what();
  }
  return "(nothing)";
}

/// One linear leaf with a weight [4, 2] of normal values.
class Placement : public ::testing::Test {
 protected:
  Placement() {
    module_ = tree_.add_leaf(TITAN_MODULE_ROOT, "w", "titan.linear", {});
    titan_parameter declaration = declare("weight", shape_);
    declaration.init = TITAN_INIT_NORMAL;
    declaration.std = 1;
    tree_.add_parameter(module_, declaration);
    weight_ = tree_.find_parameter("w.weight");
  }
  std::int32_t state(Axis axis) const { return weight_->placements[static_cast<std::size_t>(axis)].gradient; }
  void settle(std::int32_t replicate, std::int32_t shard) {
    tree_.mark_gradient(*weight_, {Axis::dp_replicate}, replicate);
    tree_.mark_gradient(*weight_, {Axis::dp_shard}, shard);
  }

  std::vector<std::int64_t> shape_{4, 2};
  Tree tree_;
  ModuleId module_;
  Parameter* weight_;
};

TEST_F(Placement, APartStartsAsTheWholeParameter) {
  EXPECT_EQ(weight_->part.offset, (std::vector<std::int64_t>{0, 0}));
  EXPECT_EQ(weight_->part.size, shape_);
}

TEST_F(Placement, ShardsNestAndHoldTheSameNumbersAsTheWhole) {
  tree_.set_mesh(mesh());
  tree_.shard(*weight_, {Axis::tp}, 1, 1, 1);
  tree_.shard(*weight_, {Axis::dp_shard, Axis::cp}, 0, 2, 2);
  EXPECT_EQ(weight_->part.offset, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(weight_->part.size, (std::vector<std::int64_t>{2, 1}));
  tree_.materialise(kSingle, at::kCPU, 7);
  const at::Tensor whole_values = initial_values(*weight_, 7, whole(shape_), at::kFloat);
  EXPECT_TRUE(weight_->storage.equal(whole_values.narrow(0, 2, 2).narrow(1, 1, 1)));
  EXPECT_EQ(weight_->storage.storage().nbytes(), 2 * sizeof(float)) << "only the part is ever allocated";
}

TEST_F(Placement, NothingIsAddedOnceTheLayoutIsSet) {
  tree_.set_mesh(mesh());
  const std::string refusal = "nothing can be added once strategies place its parameters";
  EXPECT_THAT(thrown([&] { tree_.add_parameter(module_, declare("late", shape_)); }), HasSubstr(refusal));
  EXPECT_THAT(thrown([&] { tree_.add_leaf(TITAN_MODULE_ROOT, "late", "titan.linear", {}); }), HasSubstr(refusal));
  EXPECT_EQ(tree_.parameters().size(), 1U);
}

TEST_F(Placement, APartMayBeEmpty) {
  tree_.set_mesh(mesh());
  tree_.shard(*weight_, {Axis::dp_shard}, 0, 4, 0);
  for (const at::Device device : {at::Device(at::kCPU), at::Device(at::kMeta)}) {
    tree_.materialise(kSingle, device, 7);
    EXPECT_EQ(weight_->storage.sizes(), at::IntArrayRef({0, 2}));
  }
}

TEST_F(Placement, BadShardsAreRefusedByName) {
  tree_.set_mesh(mesh());
  const auto shard = [&](std::vector<Axis> axes, std::int64_t dim, std::int64_t offset, std::int64_t length) {
    return thrown([&] { tree_.shard(*weight_, axes, dim, offset, length); });
  };
  EXPECT_THAT(shard({Axis::tp}, 2, 0, 1), HasSubstr("[w.weight] no such dim to shard: dim 2, there are 2"));
  EXPECT_THAT(shard({Axis::tp}, 0, 3, 2), HasSubstr("reaches outside this rank's part: offset 3, length 2, part 4"));
  EXPECT_THAT(shard({Axis::tp}, 0, -1, 1), HasSubstr("reaches outside"));
  EXPECT_THAT(shard({Axis::cp}, 0, 0, 1), HasSubstr("a shard over one rank must hold everything: length 1 of 4"));
  EXPECT_EQ(shard({Axis::cp}, 0, 0, 4), "(nothing)");
  EXPECT_EQ(shard({Axis::tp}, 0, 0, 2), "(nothing)");
  EXPECT_THAT(shard({Axis::tp}, 1, 0, 1), HasSubstr("is sharded already: axis tp"));
  tree_.materialise(kSingle, at::kCPU, 0);
  EXPECT_THAT(shard({Axis::dp_shard}, 0, 0, 1), HasSubstr("cannot be sharded any more"));
}

TEST_F(Placement, DataAxesOfSeveralRanksStartPartial) {
  tree_.set_mesh(mesh());
  EXPECT_EQ(state(Axis::dp_replicate), TITAN_GRADIENT_PARTIAL);
  EXPECT_EQ(state(Axis::dp_shard), TITAN_GRADIENT_PARTIAL);
  EXPECT_EQ(state(Axis::cp), TITAN_GRADIENT_EQUAL) << "one rank";
  EXPECT_EQ(state(Axis::tp), TITAN_GRADIENT_EQUAL);
}

TEST_F(Placement, AStepRestoresWhatWasDeclared) {
  tree_.set_mesh(mesh());
  tree_.declare_gradient(*weight_, {Axis::tp, Axis::cp}, TITAN_GRADIENT_PARTIAL);
  EXPECT_EQ(state(Axis::cp), TITAN_GRADIENT_EQUAL) << "one rank";
  tree_.mark_gradient(*weight_, {Axis::dp_replicate, Axis::tp}, TITAN_GRADIENT_EQUAL);
  tree_.begin_ledger();
  EXPECT_EQ(state(Axis::dp_replicate), TITAN_GRADIENT_PARTIAL);
  EXPECT_EQ(state(Axis::tp), TITAN_GRADIENT_PARTIAL);
}

TEST_F(Placement, BadStatesAreRefused) {
  tree_.set_mesh(mesh());
  EXPECT_THAT(thrown([&] { tree_.declare_gradient(*weight_, {Axis::tp}, 4); }), HasSubstr("unknown state"));
  EXPECT_THAT(thrown([&] { tree_.mark_gradient(*weight_, {Axis::tp}, TITAN_GRADIENT_PARTIAL); }),
              HasSubstr("leaves a gradient equal or sharded"));
}

TEST_F(Placement, TheLedgerNamesParameterAndAxisOfWhatIsNotSummed) {
  tree_.set_mesh(mesh());
  tree_.shard(*weight_, {Axis::dp_shard}, 0, 0, 2);
  tree_.take_over(*weight_, TITAN_OWN_GRADIENT);
  tree_.materialise(kSingle, at::kCPU, 0);
  const auto check = [&] { return thrown([&] { tree_.check_ledger(); }); };
  tree_.begin_ledger();
  weight_->gradient = at::zeros({2, 2});
  EXPECT_THAT(check(), HasSubstr("[w.weight] the gradient is still to be summed, no strategy has done it: axis "
                                 "dp_replicate"));
  tree_.mark_gradient(*weight_, {Axis::dp_replicate}, TITAN_GRADIENT_EQUAL);
  EXPECT_THAT(check(), HasSubstr("axis dp_shard"));
  settle(TITAN_GRADIENT_EQUAL, TITAN_GRADIENT_EQUAL);
  EXPECT_THAT(check(), HasSubstr("placed unlike its parameter: axis dp_shard, gradient equal, parameter sharded"));
  settle(TITAN_GRADIENT_SHARDED, TITAN_GRADIENT_SHARDED);
  EXPECT_THAT(check(), HasSubstr("axis dp_replicate, gradient sharded, parameter replicated"));
  settle(TITAN_GRADIENT_EQUAL, TITAN_GRADIENT_SHARDED);
  EXPECT_EQ(check(), "(nothing)");
}

TEST_F(Placement, TheLedgerWantsAWholeGradientOfTheRightDtype) {
  tree_.take_over(*weight_, TITAN_OWN_GRADIENT);
  tree_.materialise(kSingle, at::kCPU, 0);
  const auto check = [&] { return thrown([&] { tree_.check_ledger(); }); };
  EXPECT_THAT(check(), HasSubstr("[w.weight] there is no gradient"));
  weight_->gradient = at::zeros({2, 2});
  EXPECT_THAT(check(), HasSubstr("another shape than this rank's part: [2, 2], part [4, 2]"));
  weight_->gradient = at::zeros({4, 2}, at::kDouble);
  EXPECT_THAT(check(), HasSubstr("another dtype than training.mixed_precision_reduce: Double, expected Float"));
  weight_->gradient = at::zeros({4, 2});
  EXPECT_EQ(check(), "(nothing)");
  EXPECT_THAT(thrown([&] { tree_.begin_ledger(); }), HasSubstr("begins with the gradient of the last one"));
}

TEST_F(Placement, OwnedFormsAreLeftAlone) {
  tree_.take_over(*weight_, TITAN_OWN_COMPUTE);
  tree_.take_over(*weight_, TITAN_OWN_GRADIENT);
  EXPECT_THAT(thrown([&] { tree_.take_over(*weight_, TITAN_OWN_GRADIENT); }),
              HasSubstr("looks after this form already"));
  EXPECT_THAT(thrown([&] { tree_.take_over(*weight_, 4); }), HasSubstr("unknown forms"));
  tree_.materialise({at::kFloat, at::kBFloat16, at::kFloat}, at::kCPU, 0);
  EXPECT_FALSE(weight_->compute.defined());
  weight_->compute = at::ones({4, 2}).requires_grad_(true);
  weight_->gradient = at::ones({4, 2});
  tree_.refresh_compute();
  tree_.call(module_, {at::ones({1, 2})}).front().sum().backward();
  tree_.collect_gradients();
  tree_.zero_gradients();
  EXPECT_TRUE(weight_->compute.equal(at::ones({4, 2})));
  EXPECT_TRUE(weight_->compute.grad().defined());
  EXPECT_TRUE(weight_->gradient.equal(at::ones({4, 2})));
}

TEST_F(Placement, TheRunningModuleIsKnownAndForgottenOnErrors) {
  tree_.materialise(kSingle, at::kCPU, 0);
  ModuleId seen = TITAN_MODULE_ROOT;
  bool fails = false;
  tree_.attach(module_, 0, [&](Frame& frame, Next next, const Tensors& in) {
    seen = tree_.running();
    if (fails) throw PluginError("[test] on purpose");
    return next(frame, in);
  });
  tree_.call(module_, {at::ones({1, 2})});
  EXPECT_EQ(seen, module_);
  EXPECT_EQ(tree_.running(), TITAN_MODULE_ROOT);
  fails = true;
  EXPECT_THROW(tree_.call(module_, {at::ones({1, 2})}), PluginError);
  EXPECT_EQ(tree_.running(), TITAN_MODULE_ROOT);
}

}  // namespace
}  // namespace titan::nn
