#include "core/app/checkpoint/tensor_facts.hpp"

#include <gtest/gtest.h>

namespace titan::app {
namespace {

TEST(TensorFactsTest, CountsElementsAndBytesOfTheWhole) {
  const checkpoint::StoredTensor matrix{checkpoint::DType::bf16, {3, 5}, {}};
  EXPECT_EQ(elements_of(matrix), 15);
  EXPECT_EQ(bytes_of(matrix), 30U);
  const checkpoint::StoredTensor scalar{checkpoint::DType::i64, {}, {}};
  EXPECT_EQ(elements_of(scalar), 1);
  EXPECT_EQ(bytes_of(scalar), 8U);
  EXPECT_EQ(bytes_of({checkpoint::DType::f32, {0, 7}, {}}), 0U);
}

}  // namespace
}  // namespace titan::app
