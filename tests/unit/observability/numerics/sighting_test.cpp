#include "plugins/observability/numerics/sighting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace titan::observability {
namespace {

using Place = ComputationPlace;

TEST(Sighting, PlacesAreInTheOrderOfComputation) {
  const std::vector<Place> ordered{
      {Place::before_the_step},          {Place::in_a_module, 0, 0, 0, 7},   {Place::in_a_module, 0, 0, 0, 9},
      {Place::in_a_module, 0, 0, 1, 2},  {Place::in_a_module, 0, 1, -1, 80}, {Place::in_a_module, 0, 1, 0, 30},
      {Place::in_a_module, 1, 0, 0, 11}, {Place::after_reduction},           {}};
  EXPECT_TRUE(std::is_sorted(ordered.begin(), ordered.end()));
  EXPECT_EQ(std::adjacent_find(ordered.begin(), ordered.end()), ordered.end());
}

TEST(Sighting, RanksAreListed) {
  EXPECT_EQ(list_ranks({1}), "rank 1");
  EXPECT_EQ(list_ranks({0, 3}), "ranks 0, 3");
}

}  // namespace
}  // namespace titan::observability
