#include "core/train/memory_need.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

TEST(MemoryNeed, CountsEveryBox) {
  EXPECT_EQ(bytes_per_parameter({at::kFloat, at::kFloat, at::kFloat}), 16);
  EXPECT_EQ(bytes_per_parameter({at::kFloat, at::kBFloat16, at::kFloat}), 18);
  EXPECT_EQ(bytes_per_parameter({at::kDouble, at::kDouble, at::kDouble}), 32);
  EXPECT_EQ(bytes_per_parameter({at::kBFloat16, at::kBFloat16, at::kFloat}), 10);
}

TEST(MemoryNeed, CountsATreesElements) {
  EXPECT_EQ(num_elements(*tiny::tiny_tree()), 2 * tiny::kVocabulary * tiny::kDim);
}

TEST(MemoryNeed, RefusesWhatCannotFitAndShowsTheArithmetic) {
  const nn::Precision precision{at::kFloat, at::kBFloat16, at::kFloat};
  const std::int64_t gibibyte = std::int64_t{1} << 30;
  EXPECT_NO_THROW(check_memory(1'000'000, precision, gibibyte));
  EXPECT_NO_THROW(check_memory(8'000'000'000, precision, 0));
  try {
    check_memory(8'000'000'000, precision, 16 * gibibyte);
    FAIL();
  } catch (const ResourceError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("8000000000 parameters x 18 bytes"),
                                             testing::HasSubstr("134.1 GiB"), testing::HasSubstr("16 GiB")));
  }
}

}  // namespace
}  // namespace titan::train
