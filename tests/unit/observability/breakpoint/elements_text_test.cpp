#include "plugins/observability/breakpoint/elements_text.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/observability/breakpoint/command.hpp"

namespace titan::observability {
namespace {

using ::testing::HasSubstr;

at::Tensor counted(at::IntArrayRef sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return at::arange(count, at::kFloat).reshape(sizes);
}

TEST(ElementsText, AreNestedListsWithColumns) {
  EXPECT_EQ(elements_text(counted({2, 2, 6}).to(at::kLong), "[1]"),
            "[[12, 13, 14, 15, 16, 17],\n [18, 19, 20, 21, 22, 23]]\n");
  EXPECT_EQ(elements_text(counted({2, 6}), "[0, :4]"), "[0, 1, 2, 3]\n");
  EXPECT_EQ(elements_text(counted({2, 6}), "[1, ::3]"), "[6, 9]\n");
  EXPECT_EQ(elements_text(counted({2, 6}), "[0, 1::9223372036854775807]"), "[1]\n");
  EXPECT_EQ(elements_text(counted({2, 6}), "[0, 1:5:3]"), "[1, 4]\n");
  EXPECT_EQ(elements_text(at::tensor({0.5, -12.25}), ""), "[   0.5, -12.25]\n");
  EXPECT_EQ(elements_text(counted({2, 6}), "[0:0]"), "  no elements: [0, 6]\n");
}

TEST(ElementsText, OfManyElementsTheOuterOnesAreShown) {
  EXPECT_EQ(elements_text(counted({1000}).to(at::kInt), ""), "[  0,   1,   2, ..., 997, 998, 999]\n");
  const std::string text = elements_text(counted({100, 2, 100}), "");
  EXPECT_LT(text.size(), 2000U);
  EXPECT_THAT(text, HasSubstr("19999]]]"));
  EXPECT_THAT(text, HasSubstr("...,\n"));
}

TEST(ElementsText, LookingAtATensorRecordsNothing) {
  at::Tensor x = counted({4});
  x.requires_grad_();
  EXPECT_EQ(elements_text(x, "[1]"), "1\n");
  EXPECT_EQ(x.use_count(), 1U);
}

TEST(ElementsText, AWrongSliceIsExplained) { EXPECT_THROW(elements_text(counted({2, 2}), "[5]"), CommandError); }

}  // namespace
}  // namespace titan::observability
