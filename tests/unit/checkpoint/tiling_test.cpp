#include "core/checkpoint/tiling.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <random>

namespace titan::checkpoint {
namespace {

using Sizes = std::vector<std::int64_t>;

StoredPart part(Sizes offset, Sizes size) { return {{std::move(offset), std::move(size)}, 0, 0}; }

std::string fault(const Sizes& shape, const std::vector<StoredPart>& parts) { return tiling_fault(shape, parts); }

/// Counts how often each element is covered: the definition, for small tensors.
bool is_tiled(const Sizes& shape, const std::vector<StoredPart>& parts) {
  std::vector<int> covered(static_cast<std::size_t>(shape[0] * shape[1]));
  for (const StoredPart& each : parts) {
    for (std::int64_t i = 0; i < each.box.size[0]; ++i) {
      for (std::int64_t j = 0; j < each.box.size[1]; ++j) {
        ++covered[static_cast<std::size_t>((each.box.offset[0] + i) * shape[1] + each.box.offset[1] + j)];
      }
    }
  }
  return std::all_of(covered.begin(), covered.end(), [](int count) { return count == 1; });
}

TEST(TilingTest, AcceptsPartsThatTile) {
  EXPECT_EQ(fault({4, 6}, {part({0, 0}, {4, 6})}), "");
  EXPECT_EQ(fault({5, 6}, {part({3, 0}, {2, 6}), part({0, 0}, {3, 6})}), "");
  EXPECT_EQ(fault({}, {part({}, {})}), "");
  EXPECT_EQ(fault({0, 3}, {}), "");
  EXPECT_EQ(fault({1, 1}, {part({0, 0}, {1, 1})}), "");
  // A pinwheel: no cut goes through.
  EXPECT_EQ(fault({3, 3}, {part({0, 0}, {1, 2}), part({0, 2}, {2, 1}), part({2, 1}, {1, 2}), part({1, 0}, {2, 1}),
                           part({1, 1}, {1, 1})}),
            "");
}

TEST(TilingTest, NamesGapsAndOverlaps) {
  EXPECT_EQ(fault({4}, {part({0}, {3})}), "its parts leave a gap: 1 of 4 elements");
  EXPECT_EQ(fault({4}, {}), "its parts leave a gap: 4 of 4 elements");
  EXPECT_EQ(fault({4}, {part({0}, {3}), part({2}, {2})}), "its parts overlap");
  EXPECT_EQ(fault({}, {part({}, {}), part({}, {})}), "its parts overlap");
  EXPECT_EQ(fault({}, {}), "its parts leave a gap: 1 of 1 elements");
  // As many elements as the tensor, but not each of them once.
  EXPECT_EQ(fault({4}, {part({0}, {2}), part({0}, {2})}), "its parts overlap");
  EXPECT_EQ(fault({2, 2}, {part({0, 0}, {1, 2}), part({0, 1}, {2, 1})}), "its parts overlap");
  EXPECT_EQ(fault({3, 3}, {part({0, 0}, {1, 2}), part({0, 2}, {2, 1}), part({2, 1}, {1, 2}), part({1, 0}, {2, 1}),
                           part({0, 0}, {1, 1})}),
            "its parts overlap");
}

TEST(TilingTest, RefusesPartsThatDoNotLieInTheTensor) {
  const std::string why = "a part has no elements, or does not lie in it";
  EXPECT_EQ(fault({4, 4}, {part({0, 0}, {5, 4})}), why);
  EXPECT_EQ(fault({4, 4}, {part({1, 0}, {4, 4})}), why);
  EXPECT_EQ(fault({4, 4}, {part({-1, 0}, {4, 4})}), why);
  EXPECT_EQ(fault({4, 4}, {part({0, 0}, {4, 0})}), why);
  EXPECT_EQ(fault({4, 4}, {part({0}, {4})}), why);
  EXPECT_EQ(fault({4}, {part({0, 0}, {4, 1})}), why);
  EXPECT_EQ(fault({4}, {part({INT64_MAX}, {1})}), why);
  EXPECT_EQ(fault({0}, {part({0}, {0})}), why);
}

TEST(TilingTest, AgreesWithCountingOnRandomParts) {
  std::mt19937 random(11);
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(limit));
  };
  int tiled = 0;
  for (int round = 0; round < 20'000; ++round) {
    const Sizes shape = {1 + below(3), 1 + below(3)};
    std::vector<StoredPart> parts;
    for (std::int64_t left = shape[0] * shape[1]; left > 0;) {
      const Sizes offset = {below(shape[0]), below(shape[1])};
      const Sizes size = {1 + below(shape[0] - offset[0]), 1 + below(shape[1] - offset[1])};
      parts.push_back(part(offset, size));
      left -= size[0] * size[1];
    }
    const bool expected = is_tiled(shape, parts);
    tiled += expected ? 1 : 0;
    ASSERT_EQ(fault(shape, parts).empty(), expected) << "round " << round;
  }
  EXPECT_GT(tiled, 100);
}

TEST(TilingTest, ManyPartsTakeTimeInProportion) {
  std::vector<StoredPart> parts;
  for (std::int64_t i = 0; i < 320; ++i) {
    for (std::int64_t j = 0; j < 320; ++j) parts.push_back(part({i * 7, j * 3, 0}, {7, 3, 5}));
  }
  const std::clock_t before = std::clock();
  EXPECT_EQ(fault({320 * 7, 320 * 3, 5}, parts), "");
  std::swap(parts[5].box.offset, parts[9].box.offset);  // the same boxes in another order
  EXPECT_EQ(fault({320 * 7, 320 * 3, 5}, parts), "");
  parts[5].box.offset = parts[9].box.offset;
  EXPECT_EQ(fault({320 * 7, 320 * 3, 5}, parts), "its parts overlap");
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 5.0);
}

TEST(TilingTest, ManyDimsAreNoProblem) {
  Sizes shape(62, 2);
  std::vector<StoredPart> parts;  // halves of halves, each cut in another dim
  Sizes offset(62, 0), size(62, 2);
  for (std::size_t dim = 0; dim < 62; ++dim) {
    size[dim] = 1;
    offset[dim] = 1;
    parts.push_back(part(offset, size));
    offset[dim] = 0;
  }
  parts.push_back(part(offset, size));
  EXPECT_EQ(fault(shape, parts), "");
  parts.back().box.offset[30] = 1;
  EXPECT_EQ(fault(shape, parts), "its parts overlap");
}

}  // namespace
}  // namespace titan::checkpoint
