#include "core/train/machine.hpp"

#include <gtest/gtest.h>

namespace titan::train {
namespace {

TEST(Machine, ReadsTheProcessorsName) {
  EXPECT_EQ(processor_name("processor\t: 0\nmodel name\t: AMD EPYC 9B45 \nflags\t: fpu\n"), "AMD EPYC 9B45");
  EXPECT_EQ(processor_name("model name: last line"), "last line");
}

TEST(Machine, FallsBackToAPlainName) {
  EXPECT_EQ(processor_name(""), "CPU");
  EXPECT_EQ(processor_name("model name\t:\n"), "CPU");
  EXPECT_EQ(processor_name("model name\nflags\t: fpu\n"), "CPU");
}

TEST(Machine, KnowsThisOne) {
  EXPECT_FALSE(processor_name().empty());
  EXPECT_GT(memory_capacity(), std::int64_t{1} << 20);
}

}  // namespace
}  // namespace titan::train
