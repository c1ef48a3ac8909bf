#include "core/train/determinism.hpp"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <set>

namespace titan::train {
namespace {

TEST(Determinism, HoldsForItsScope) {
  const bool before = at::globalContext().deterministicAlgorithms();
  {
    const DeterministicScope scope(true, true);
    EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
    EXPECT_TRUE(at::globalContext().deterministicAlgorithmsWarnOnly());
    const DeterministicScope inner(true, false);
    EXPECT_FALSE(at::globalContext().deterministicAlgorithmsWarnOnly());
  }
  EXPECT_EQ(at::globalContext().deterministicAlgorithms(), before);
}

TEST(Determinism, DoesNothingUnlessAsked) {
  const bool before = at::globalContext().deterministicAlgorithms();
  const DeterministicScope scope(false, false);
  EXPECT_EQ(at::globalContext().deterministicAlgorithms(), before);
}

TEST(Determinism, DrawsSeedsThatDiffer) {
  std::set<std::int64_t> seeds;
  for (int i = 0; i < 16; ++i) {
    const std::int64_t seed = draw_seed();
    EXPECT_GE(seed, 0);
    seeds.insert(seed);
  }
  EXPECT_GT(seeds.size(), 1u);
}

}  // namespace
}  // namespace titan::train
