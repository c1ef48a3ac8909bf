#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/checkpoint/read.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/made_tensor.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class FitTest : public ::testing::Test {
 protected:
  FitTest() {
    source_.folder = "step-3";
    source_.tensors["a"] = {DType::f32, {2, 3}, {}};
    source_.tensors["b"] = {DType::bf16, {4}, {}};
    source_.tensors["c"] = {DType::i64, {}, {}};
  }
  void want(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape) {
    wanted_.push_back({{name, dtype, shape}, testing::whole(shape), nullptr});
  }
  std::string fault(const FitRules& rules = {}) const {
    return titan::testing::error_text<DataError>([&] { require_fit(source_, wanted_, rules); });
  }

  Source source_;
  std::vector<WantedPart> wanted_;
};

TEST_F(FitTest, TheSameTensorsFit) {
  want("a", DType::f32, {2, 3});
  want("b", DType::bf16, {4});
  want("c", DType::i64, {});
  EXPECT_NO_THROW(require_fit(source_, wanted_, {}));
  EXPECT_TRUE(unexpected_tensors(source_, wanted_).empty());
}

TEST_F(FitTest, ListsEveryKindOfFault) {
  want("a", DType::f32, {3, 2});
  want("b", DType::f32, {4});
  want("d\n", DType::f32, {1});
  EXPECT_EQ(fault(),
            "[checkpoint] tensors do not fit: step-3: missing: d\\n; of another shape: a ([2, 3] stored, [3, 2] "
            "wanted); of another dtype: b (bfloat16 stored, float32 wanted)");
}

TEST_F(FitTest, ConvertsFloatingTypesWhereItMay) {
  want("b", DType::f32, {4});
  EXPECT_NO_THROW(require_fit(source_, wanted_, {.may_convert = true}));
  want("c", DType::f32, {});
  EXPECT_THAT(fault({.may_convert = true}), HasSubstr("of another dtype: c (int64 stored, float32 wanted)"));
}

TEST_F(FitTest, NamesTwentyTensorsAndCountsTheOthers) {
  for (int i = 0; i < 25; ++i) {
    for (int box = 0; box < 2; ++box) want(concat("x", i), DType::f32, {1});
  }
  EXPECT_THAT(fault(), ::testing::AllOf(HasSubstr("x19 and 5 more"), Not(HasSubstr("x20"))));
}

TEST_F(FitTest, ATensorWithoutElementsIsNeverMissing) {
  want("none", DType::f32, {0, 3});
  EXPECT_NO_THROW(require_fit(source_, wanted_, {}));
}

TEST_F(FitTest, FindsWhatNobodyWants) {
  want("b", DType::bf16, {4});
  EXPECT_THAT(unexpected_tensors(source_, wanted_), ElementsAre("a", "c"));
}

}  // namespace
}  // namespace titan::checkpoint
