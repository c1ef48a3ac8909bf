#include "core/train/precision.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Precision, ReadsTheDefaults) {
  const nn::Precision read = make_precision("float32", "bfloat16", "float32");
  EXPECT_EQ(read.storage, at::kFloat);
  EXPECT_EQ(read.compute, at::kBFloat16);
  EXPECT_EQ(read.reduce, at::kFloat);
  EXPECT_EQ(describe(read), "storage float32, compute bfloat16, gradients float32");
  EXPECT_THAT(remarks(read), IsEmpty());
}

TEST(Precision, Float64ThroughoutNeedsNoRemark) {
  EXPECT_THAT(remarks(make_precision("float64", "float64", "float64")), IsEmpty());
}

TEST(Precision, SaysWhenDigitsAreLost) {
  EXPECT_THAT(remarks(make_precision("float64", "bfloat16", "float32")),
              ElementsAre(HasSubstr("training.mixed_precision_param=float64")));
  EXPECT_THAT(remarks(make_precision("float64", "float64", "float32")),
              ElementsAre(HasSubstr("training.mixed_precision_reduce=float64")));
}

TEST(Precision, RefusesComputeThatIsFinerThanItsSource) {
  try {
    make_precision("float32", "float64", "float32");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("training.mixed_precision_param float64"), HasSubstr("training.dtype is float32")));
  }
}

TEST(Precision, RefusesUnknownNames) {
  EXPECT_THROW(parse_dtype("training.dtype", "float16"), ConfigError);
  EXPECT_EQ(parse_dtype("training.dtype", "float64"), at::kDouble);
}

}  // namespace
}  // namespace titan::train
