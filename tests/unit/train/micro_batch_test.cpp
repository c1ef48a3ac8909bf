#include "core/train/micro_batch.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

TEST(MicroBatch, ViewsTheBatchWithoutACopy) {
  data::Batch batch = tiny::tiny_batch(3, 4, 0);
  const MicroBatch tensors = view(batch);
  EXPECT_EQ(tensors.tokens.sizes(), at::IntArrayRef({3, 4}));
  EXPECT_EQ(tensors.tokens.scalar_type(), at::kLong);
  EXPECT_EQ(tensors.tokens.data_ptr(), batch.tokens.data());
  EXPECT_EQ(tensors.labels.data_ptr(), batch.labels.data());
  EXPECT_EQ(tensors.positions[1][2].item<std::int64_t>(), 2);
}

TEST(MicroBatch, RefusesArraysOfAnotherSize) {
  data::Batch batch = tiny::tiny_batch(3, 4, 0);
  batch.labels.pop_back();
  EXPECT_THROW(view(batch), InternalError);
}

}  // namespace
}  // namespace titan::train
