#include "core/base/listing.hpp"

#include <gtest/gtest.h>

namespace titan {
namespace {

TEST(ListingTest, TheFirstNamesAreListed) {
  EXPECT_EQ(join_first({}), "");
  EXPECT_EQ(join_first({"a", "b\n"}), "a, b\\n");
  EXPECT_EQ(join_first({"a", "b"}, 5), "a, b and 3 more");
  const std::string twenty = join_first(std::vector<std::string>(20, "x"));
  EXPECT_FALSE(twenty.ends_with("more"));
  EXPECT_EQ(join_first(std::vector<std::string>(22, "x")), twenty + " and 2 more");
}

}  // namespace
}  // namespace titan
