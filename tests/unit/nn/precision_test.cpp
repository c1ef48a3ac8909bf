#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "core/nn/tree.hpp"
#include "tests/support/declare.hpp"

namespace titan::nn {
namespace {

using titan::testing::declare;

/// y = x w, with one weight.
struct OneLinear {
  explicit OneLinear(const Precision& precision, at::Device device = at::kCPU) {
    module = tree.add_leaf(TITAN_MODULE_ROOT, "w", "titan.linear", {});
    tree.add_parameter(module, declare("weight", {1, 2}, 1.0));
    tree.materialise(precision, device, 0);
    parameter = tree.find_parameter("w.weight");
  }
  /// One backward whose gradient is `value` everywhere.
  void backward(double value) {
    const at::Tensor x = at::full({1, 2}, value, parameter->compute.scalar_type());
    tree.call(module, {x}).front().sum().backward();
  }

  Tree tree;
  ModuleId module;
  Parameter* parameter;
};

TEST(Precision, EqualDtypesShareOneTensor) {
  const OneLinear model({at::kFloat, at::kFloat, at::kFloat});
  EXPECT_TRUE(model.parameter->compute.is_same(model.parameter->storage));
  EXPECT_TRUE(model.parameter->storage.requires_grad());
  EXPECT_TRUE(model.parameter->storage.is_leaf());
}

TEST(Precision, OtherDtypesKeepACopyThatRefreshRenews) {
  OneLinear model({at::kFloat, at::kBFloat16, at::kFloat});
  EXPECT_EQ(model.parameter->compute.scalar_type(), at::kBFloat16);
  EXPECT_TRUE(model.parameter->compute.is_leaf());
  {
    const c10::NoGradGuard no_grad;
    model.parameter->storage.fill_(3);
  }
  EXPECT_EQ(model.parameter->compute[0][0].item<float>(), 1.0F);
  model.tree.refresh_compute();
  EXPECT_EQ(model.parameter->compute[0][0].item<float>(), 3.0F);
  model.backward(2);
  EXPECT_TRUE(model.parameter->compute.grad().defined()) << "refreshing must not break recording";
}

TEST(Precision, GradientsAreMovedWhereDtypesAgree) {
  OneLinear model({at::kFloat, at::kFloat, at::kFloat});
  model.backward(2);
  const void* data = model.parameter->compute.grad().data_ptr();
  model.tree.collect_gradients();
  EXPECT_EQ(model.parameter->gradient.data_ptr(), data);
  EXPECT_FALSE(model.parameter->compute.grad().defined());
}

TEST(Precision, GradientsAddUpInReduceDtype) {
  OneLinear model({at::kFloat, at::kBFloat16, at::kFloat});
  // 1 + 2^-8 is no bfloat16: only a sum in fp32 keeps it.
  for (const double value : {1.0, 0x1p-8}) {
    model.backward(value);
    model.tree.collect_gradients();
  }
  EXPECT_EQ(model.parameter->gradient.scalar_type(), at::kFloat);
  EXPECT_TRUE(model.parameter->gradient.equal(at::full({1, 2}, 1.0 + 0x1p-8)));
  model.tree.collect_gradients();
  EXPECT_TRUE(model.parameter->gradient.equal(at::full({1, 2}, 1.0 + 0x1p-8))) << "nothing new, nothing added";
  model.tree.zero_gradients();
  EXPECT_FALSE(model.parameter->gradient.defined());
}

TEST(Precision, ReduceMayBeNarrow) {
  OneLinear model({at::kFloat, at::kFloat, at::kBFloat16});
  model.backward(1);
  model.tree.collect_gradients();
  model.backward(2);
  model.tree.collect_gradients();
  EXPECT_EQ(model.parameter->gradient.scalar_type(), at::kBFloat16);
  EXPECT_EQ(model.parameter->gradient[0][0].item<float>(), 3.0F);
}

TEST(Precision, DoubleWorksThroughout) {
  OneLinear model({at::kDouble, at::kDouble, at::kDouble});
  model.backward(0.1);
  model.tree.collect_gradients();
  EXPECT_EQ(model.parameter->gradient[0][1].item<double>(), 0.1);
}

TEST(Precision, MetaParametersHaveShapesAndNoValues) {
  const OneLinear model({at::kFloat, at::kBFloat16, at::kFloat}, at::kMeta);
  EXPECT_TRUE(model.parameter->storage.is_meta());
  EXPECT_EQ(model.parameter->compute.scalar_type(), at::kBFloat16);
  EXPECT_EQ(model.parameter->storage.sizes(), at::IntArrayRef({1, 2}));
}

}  // namespace
}  // namespace titan::nn
