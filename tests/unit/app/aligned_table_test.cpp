#include "core/app/aligned_table.hpp"

#include <gtest/gtest.h>

namespace titan::app {
namespace {

TEST(AlignedTableTest, ColumnsAreUnderEachOther) {
  EXPECT_EQ(aligned({{"a", "bcd", "e"}, {"fgh", "i", "j"}}), "  a    bcd  e\n  fgh  i    j\n");
}

TEST(AlignedTableTest, LinesEndWithTheirLastCell) {
  EXPECT_EQ(aligned({{"a", ""}, {"b", "long"}}), "  a\n  b  long\n");
}

TEST(AlignedTableTest, RowsMayBeOfDifferentLengths) {
  EXPECT_EQ(aligned({{"alone"}, {"a", "b"}, {}}), "  alone\n  a      b\n\n");
  EXPECT_EQ(aligned({}), "");
}

}  // namespace
}  // namespace titan::app
