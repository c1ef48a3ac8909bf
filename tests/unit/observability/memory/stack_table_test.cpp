#include "plugins/observability/memory/stack_table.hpp"

#include <gtest/gtest.h>

namespace titan::observability {
namespace {

TEST(StackTableTest, AStackThatComesAgainHasItsNumber) {
  int a = 0, b = 0;
  StackTable table;
  EXPECT_EQ(table.number({}), StackTable::kNone);
  const std::uint32_t first = table.number({&a, &b});
  const std::uint32_t second = table.number({&b, &a});
  EXPECT_NE(first, second);
  EXPECT_EQ(table.number({&a, &b}), first);
  EXPECT_EQ(table[second], (StackTable::Stack{&b, &a}));
  EXPECT_EQ(table.size(), 3U);
}

}  // namespace
}  // namespace titan::observability
