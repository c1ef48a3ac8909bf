#include "titan/sdk/tensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sdk/fake_tree.hpp"

namespace titan::sdk {
namespace {

using test::FakeTree;
using ::testing::ElementsAre;

class SdkTensor : public ::testing::Test {
 protected:
  ~SdkTensor() override { EXPECT_EQ(FakeTree::live_tensors(), 0); }
  Tensor make(std::vector<std::int64_t> sizes) { return {api_, FakeTree::make(std::move(sizes))}; }

  test::FakeHost host_;
  FakeTree tree_{host_};
  TensorApi api_{Host(host_.table())};
};

TEST_F(SdkTensor, CopiesShareTheHandle) {
  Tensor a = make({2, 3});
  Tensor b = a;
  EXPECT_EQ(a.handle(), b.handle());
  const Tensor c = std::move(a);
  EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move)
  b = c;
  b = b;  // NOLINT(clang-diagnostic-self-assign-overloaded)
  EXPECT_EQ(b.numel(), 6);
}

TEST_F(SdkTensor, GivesItsReferenceAway) {
  Tensor a = make({1});
  const titan_tensor given = a.release();
  EXPECT_FALSE(a);
  EXPECT_EQ(FakeTree::live_tensors(), 1);
  FakeTree::release(given);
}

TEST_F(SdkTensor, ReadsSizesFromBothEnds) {
  const Tensor a = make({2, 3, 5});
  EXPECT_EQ(a.dim(), 3);
  EXPECT_EQ(a.size(0), 2);
  EXPECT_EQ(a.size(-1), 5);
  EXPECT_EQ(a.size(3), -1);
  EXPECT_EQ(a.dtype(), DType::float32);
}

TEST_F(SdkTensor, ReshapesThroughOperators) {
  const Tensor x = make({2, 3, 8});
  EXPECT_THAT(FakeTree::sizes(x.unflatten(-1, {-1, 4}).handle()), ElementsAre(2, 3, 2, 4));
  EXPECT_THAT(FakeTree::sizes(x.flatten(-2).handle()), ElementsAre(2, 24));
  EXPECT_THAT(FakeTree::sizes(x.flatten(0, 1).handle()), ElementsAre(6, 8));
  EXPECT_THAT(FakeTree::sizes(x.view({4, -1}).handle()), ElementsAre(4, 12));
  EXPECT_THAT(FakeTree::sizes(x.reshape({48}).handle()), ElementsAre(48));
  EXPECT_THAT(FakeTree::sizes(x.transpose(0, -1).handle()), ElementsAre(8, 3, 2));
}

TEST_F(SdkTensor, ArithmeticCallsTheOperatorOfItsName) {
  const Tensor x = make({2});
  const Tensor y = make({2});
  (void)(x + y);
  (void)(x - y);
  (void)(x * y);
  (void)(x * 0.5);
  EXPECT_THAT(tree_.calls(),
              ElementsAre("aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor", "aten::mul.Scalar"));
}

TEST_F(SdkTensor, CallsAnyOperator) {
  const Tensor x = make({2});
  const Op gelu(api_, "aten::gelu", "");
  EXPECT_THAT(FakeTree::sizes(gelu(x, std::string_view("tanh")).handle()), ElementsAre(2));
  const Op topk(api_, "aten::topk", "");
  const auto [values, indices] = topk.outputs<2>(x, 1, -1, true);
  EXPECT_TRUE(values && indices);
}

TEST_F(SdkTensor, AnErrorOfTheHostIsThrown) {
  const Tensor x = make({2});
  tree_.fail_after(1);
  EXPECT_THROW(x + x, HostError);
  EXPECT_EQ(host_.live_errors(), 0);
}

TEST_F(SdkTensor, WritesValuesAsTheAbiTags) {
  using tensor_detail::value_of;
  EXPECT_EQ(value_of(std::nullopt).kind, TITAN_VALUE_NONE);
  EXPECT_EQ(value_of(true).kind, TITAN_VALUE_BOOL);
  EXPECT_EQ(value_of(std::int32_t{3}).as.integer, 3);
  EXPECT_EQ(value_of(0.5).as.floating, 0.5);
  EXPECT_EQ(value_of(DType::bfloat16).as.integer, TITAN_BFLOAT16);
  const std::array<std::int64_t, 2> sizes{4, 5};
  EXPECT_EQ(value_of(Ints(sizes)).size, 2u);
  EXPECT_EQ(value_of(std::string_view("tanh")).size, 4u);
}

TEST_F(SdkTensor, NoGradRestoresTheMode) {
  {
    const NoGrad off(api_);
    EXPECT_EQ(api_.table().grad_mode(0), 0);
  }
  EXPECT_EQ(api_.table().grad_mode(1), 1);
}

TEST(SdkTensorApi, NamesTheMissingInterface) {
  test::FakeHost host;
  EXPECT_THROW(TensorApi{Host(host.table())}, AbiError);
}

}  // namespace
}  // namespace titan::sdk
