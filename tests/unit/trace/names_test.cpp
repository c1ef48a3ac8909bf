#include "core/trace/names.hpp"

#include <gtest/gtest.h>

namespace titan::trace {
namespace {

TEST(NamesTest, AreThoseOfMessages) {
  EXPECT_EQ(call_name("_all_gather_base"), "_allgather_base");
  EXPECT_EQ(call_name("all_to_all"), "alltoall_base");
  EXPECT_EQ(call_name("all_reduce"), "all_reduce");
  EXPECT_EQ(dtype_name("BFloat16"), "bfloat16");
  EXPECT_EQ(dtype_name("Float"), "float32");
  EXPECT_EQ(dtype_name("Float8_e4m3fn"), "Float8_e4m3fn");
}

}  // namespace
}  // namespace titan::trace
