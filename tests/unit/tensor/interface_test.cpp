#include "core/tensor/interface.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

#include "tests/support/error_text.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::tensor {
namespace {

using ::testing::HasSubstr;
using titan::testing::error_text;

const titan_tensor_v1& table() { return *tensor_interface(); }

TEST(TensorInterface, HandlesAreCounted) {
  at::Tensor tensor = at::ones({2});
  const titan_tensor handle = handle::lend(tensor);
  table().retain(handle);
  EXPECT_EQ(tensor.use_count(), 2U);
  table().release(handle);
  EXPECT_EQ(tensor.use_count(), 1U);
  const titan_tensor given = handle::release(std::move(tensor));
  EXPECT_EQ(handle::borrow(given).use_count(), 2U);
  EXPECT_EQ(handle::own(given).use_count(), 1U);
}

TEST(TensorInterface, UndefinedTensorsAreNull) {
  EXPECT_EQ(handle::release({}), nullptr);
  EXPECT_EQ(handle::lend({}), nullptr);
  EXPECT_FALSE(handle::own(nullptr).defined());
  EXPECT_FALSE(handle::borrow(nullptr).defined());
}

TEST(TensorInterface, TellsWhatATensorIs) {
  const at::Tensor tensor = at::ones({2, 3}, at::kBFloat16).requires_grad_(true).transpose(0, 1);
  const titan_tensor handle = handle::lend(tensor);
  EXPECT_EQ(table().dtype(handle), TITAN_BFLOAT16);
  EXPECT_EQ(table().device(handle), TITAN_DEVICE_CPU);
  EXPECT_EQ(table().dim(handle), 2);
  EXPECT_EQ(table().numel(handle), 6);
  EXPECT_EQ(table().size(handle, 0), 3);
  EXPECT_EQ(table().size(handle, -1), 2);
  EXPECT_EQ(table().stride(handle, 0), 1);
  EXPECT_EQ(table().stride(handle, -1), 3);
  EXPECT_EQ(table().requires_grad(handle), 1);
  EXPECT_EQ(table().data(handle), tensor.data_ptr());
}

TEST(TensorInterface, MissingDimsAndNullHandlesHaveAnswers) {
  const at::Tensor tensor = at::ones({2, 3});
  for (const std::int64_t dim : {2, -3}) {
    EXPECT_EQ(table().size(handle::lend(tensor), dim), -1);
    EXPECT_EQ(table().stride(handle::lend(tensor), dim), -1);
  }
  EXPECT_EQ(table().dtype(nullptr), 0);
  EXPECT_EQ(table().device(nullptr), 0);
  EXPECT_EQ(table().dim(nullptr), -1);
  EXPECT_EQ(table().numel(nullptr), -1);
  EXPECT_EQ(table().size(nullptr, 0), -1);
  EXPECT_EQ(table().requires_grad(nullptr), 0);
  EXPECT_EQ(table().data(nullptr), nullptr);
  table().retain(nullptr);
  table().release(nullptr);
}

TEST(TensorInterface, DataOfMetaAndSparseTensorsIsNull) {
  EXPECT_EQ(table().data(handle::lend(at::empty({2}, at::TensorOptions(at::kMeta)))), nullptr);
  const at::Tensor sparse = at::ones({2}).to_sparse();
  EXPECT_EQ(table().data(handle::lend(sparse)), nullptr);
}

TEST(TensorInterface, EmptyMakesTheAskedShape) {
  const std::array<std::int64_t, 2> sizes = {4, 5};
  titan_tensor handle = nullptr;
  ASSERT_EQ(error_text(table().empty(sizes.data(), 2, TITAN_INT64, TITAN_DEVICE_CPU, &handle)), "");
  const at::Tensor tensor = handle::own(handle);
  EXPECT_EQ(tensor.sizes(), at::IntArrayRef(sizes));
  EXPECT_EQ(tensor.scalar_type(), at::kLong);
  ASSERT_EQ(error_text(table().empty(nullptr, 0, TITAN_FLOAT32, TITAN_DEVICE_META, &handle)), "");
  EXPECT_TRUE(handle::own(handle).is_meta());
}

TEST(TensorInterface, EmptyRefusesNonsense) {
  const std::array<std::int64_t, 2> negative = {4, -1}, huge = {std::numeric_limits<std::int64_t>::max(), 2};
  titan_tensor handle = nullptr;
  EXPECT_THAT(error_text(table().empty(negative.data(), 2, TITAN_INT64, TITAN_DEVICE_CPU, &handle)),
              HasSubstr("negative"));
  EXPECT_THAT(error_text(table().empty(huge.data(), 2, TITAN_INT64, TITAN_DEVICE_CPU, &handle)), HasSubstr("overflow"));
  EXPECT_THAT(error_text(table().empty(huge.data(), 0, 99, TITAN_DEVICE_CPU, &handle)), HasSubstr("dtype"));
  EXPECT_THAT(error_text(table().empty(huge.data(), 0, TITAN_INT64, 99, &handle)), HasSubstr("device number"));
  EXPECT_THAT(error_text(table().empty(huge.data(), 0, TITAN_INT64, TITAN_DEVICE_CUDA, &handle)), HasSubstr("CUDA"));
  EXPECT_THAT(error_text(table().empty(nullptr, 1, TITAN_INT64, TITAN_DEVICE_CPU, &handle)), HasSubstr("NULL"));
  EXPECT_THAT(error_text(table().empty(huge.data(), 0, TITAN_INT64, TITAN_DEVICE_CPU, nullptr)), HasSubstr("NULL"));
  EXPECT_EQ(handle, nullptr);
}

TEST(TensorInterface, FromBlobSharesMemoryAndFreesItOnce) {
  std::array<float, 4> memory = {1, 2, 3, 4};
  const std::array<std::int64_t, 2> sizes = {2, 2};
  int freed = 0;
  titan_tensor handle = nullptr;
  const auto count = [](void* ctx) { ++*static_cast<int*>(ctx); };
  ASSERT_EQ(error_text(table().from_blob(memory.data(), sizes.data(), 2, TITAN_FLOAT32, count, &freed, &handle)), "");
  {
    const at::Tensor tensor = handle::own(handle);
    memory[3] = 7;
    EXPECT_EQ(tensor[1][1].item<float>(), 7.0F);
    EXPECT_EQ(freed, 0);
  }
  EXPECT_EQ(freed, 1);
  ASSERT_EQ(error_text(table().from_blob(memory.data(), sizes.data(), 2, TITAN_FLOAT32, nullptr, nullptr, &handle)),
            "");
  table().release(handle);
}

TEST(TensorInterface, FromBlobLeavesRefusedMemoryToTheCaller) {
  const std::array<std::int64_t, 1> sizes = {2};
  int freed = 0;
  titan_tensor handle = nullptr;
  const auto count = [](void* ctx) { ++*static_cast<int*>(ctx); };
  EXPECT_THAT(error_text(table().from_blob(nullptr, sizes.data(), 1, TITAN_FLOAT32, count, &freed, &handle)),
              HasSubstr("data pointer is NULL"));
  EXPECT_THAT(error_text(table().from_blob(&freed, sizes.data(), 1, 99, count, &freed, &handle)), HasSubstr("dtype"));
  EXPECT_EQ(freed, 0);
}

TEST(TensorInterface, GradModeSwitchesAndTellsWhatItWas) {
  const std::int32_t before = table().grad_mode(0);
  const at::Tensor x = at::ones({1}).requires_grad_(true);
  EXPECT_FALSE((x + 1).requires_grad());
  EXPECT_EQ(table().grad_mode(1), 0);
  EXPECT_TRUE((x + 1).requires_grad());
  EXPECT_EQ(table().grad_mode(before), 1);
}

}  // namespace
}  // namespace titan::tensor
