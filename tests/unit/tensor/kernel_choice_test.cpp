#include "core/tensor/kernel_choice.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace titan::tensor {
namespace {

TEST(KernelChoice, ReadsNames) {
  EXPECT_TRUE(parse_kernels("").none());
  EXPECT_TRUE(parse_kernels("all").all());
  const KernelSet two = parse_kernels("attention,adamw");
  EXPECT_EQ(two.count(), 2U);
  EXPECT_TRUE(two[static_cast<std::size_t>(Kernel::attention)]);
  EXPECT_TRUE(two[static_cast<std::size_t>(Kernel::adamw)]);
  EXPECT_EQ(parse_kernels("grad_norm").to_ullong(), 1ULL << static_cast<unsigned>(Kernel::grad_norm));
}

TEST(KernelChoice, RefusesOtherNamesAndListsThese) {
  for (const char* names : {"atention", "attention,,adamw", "adamw,matmul", " all"}) {
    try {
      parse_kernels(names);
      FAIL() << names;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find("allowed: all, attention, linear"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace titan::tensor
