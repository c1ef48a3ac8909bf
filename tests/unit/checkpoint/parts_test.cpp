#include "core/checkpoint/parts.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

TEST(PartsTest, ABoxLiesInAShape) {
  EXPECT_TRUE(lies_in({{}, {}}, {}));
  EXPECT_TRUE(lies_in({{1, 0}, {2, 3}}, {3, 3}));
  EXPECT_TRUE(lies_in({{3}, {0}}, {3})) << "an empty one at the end";
  EXPECT_FALSE(lies_in({{1}, {3}}, {3}));
  EXPECT_FALSE(lies_in({{4}, {0}}, {3}));
  EXPECT_FALSE(lies_in({{-1}, {1}}, {3}));
  EXPECT_FALSE(lies_in({{0}, {-1}}, {3}));
  EXPECT_FALSE(lies_in({{0, 0}, {1, 1}}, {3}));
  EXPECT_FALSE(lies_in({{INT64_MAX}, {INT64_MAX}}, {INT64_MAX}));
}

TEST(PartsTest, ShapesAreShown) {
  EXPECT_EQ(shape_text({}), "[]");
  EXPECT_EQ(shape_text({2, 3}), "[2, 3]");
}

constexpr std::int64_t kMost = std::int64_t{1} << 62U;

TEST(PartsTest, CountsElements) {
  EXPECT_EQ(num_elements({}), 1);
  EXPECT_EQ(num_elements({2, 3, 4}), 24);
  EXPECT_EQ(num_elements({5, 0}), 0);
  EXPECT_EQ(num_elements({kMost}), kMost);
  EXPECT_EQ(num_elements({kMost / 2, 2, 1}), kMost);
}

TEST(PartsTest, RefusesSizesThatNoTensorHas) {
  const auto text = [](const std::vector<std::int64_t>& sizes) {
    return testing::error_text<DataError>([&] { num_elements(sizes); });
  };
  EXPECT_NE(text({2, -1}).find("a size is negative: shape [2, -1]"), std::string::npos);
  EXPECT_NE(text({std::int64_t{1} << 32U, std::int64_t{1} << 32U}).find("too many elements"), std::string::npos);
  EXPECT_NE(text({kMost + 1}).find("limit 2^62"), std::string::npos);
  EXPECT_NE(text({INT64_MAX, INT64_MAX, INT64_MAX}).find("too many elements"), std::string::npos);
  // Empty, but its strides would overflow.
  EXPECT_NE(text({0, kMost, 4}).find("too many elements"), std::string::npos);
}

}  // namespace
}  // namespace titan::checkpoint
