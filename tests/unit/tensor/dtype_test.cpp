#include "core/tensor/dtype.hpp"

#include <gtest/gtest.h>

#include <set>

#include "titan/abi/tensor.h"

namespace titan::tensor {
namespace {

TEST(Dtype, EveryAbiNumberHasItsOwnTypeAndComesBack) {
  std::set<at::ScalarType> seen;
  for (std::int32_t number = TITAN_FLOAT64; number <= TITAN_BOOL8; ++number) {
    const auto type = scalar_type(number);
    ASSERT_TRUE(type.has_value()) << number;
    EXPECT_TRUE(seen.insert(*type).second) << number;
    EXPECT_EQ(abi_dtype(*type), number);
  }
}

TEST(Dtype, UnknownNumbersAndTypesHaveNoCounterpart) {
  EXPECT_FALSE(scalar_type(0));
  EXPECT_FALSE(scalar_type(TITAN_BOOL8 + 1));
  EXPECT_EQ(abi_dtype(at::kComplexFloat), 0);
}

TEST(Dtype, DevicesComeBack) {
  for (const std::int32_t number : {TITAN_DEVICE_CPU, TITAN_DEVICE_CUDA, TITAN_DEVICE_META}) {
    ASSERT_TRUE(device(number).has_value());
    EXPECT_EQ(abi_device(*device(number)), number);
  }
  EXPECT_FALSE(device(0));
  EXPECT_EQ(abi_device(at::Device(at::kXLA)), 0);
}

}  // namespace
}  // namespace titan::tensor
