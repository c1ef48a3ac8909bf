#include "core/train/ranks/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/rank_threads.hpp"

namespace titan::train {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Ranks, OneRankMeetsNobody) {
  const EngineRun run;
  Ranks ranks(run, std::chrono::seconds(9));
  EXPECT_TRUE(ranks.alone());
  EXPECT_EQ(ranks.rank(), 0);
  EXPECT_EQ(ranks.communicator().timeout(), std::chrono::seconds(9));
  ranks.fail("nobody hears this");
  ranks.leave();
}

TEST(Ranks, EachDataParallelRankHasAPartOfTheData) {
  const config::Mesh mesh({2, 2, 3, 1, 2}, 24);
  EXPECT_EQ(data_degree(mesh), 6);
  std::vector<std::int64_t> parts;
  for (std::int64_t rank = 0; rank < 12; ++rank) parts.push_back(data_rank(mesh, rank));
  EXPECT_THAT(parts, ElementsAre(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5));
  EXPECT_EQ(data_rank(mesh, 12), 0);  // the next pipeline stage
}

TEST(Ranks, AFailureIsToldToTheOthers) {
  std::string heard;
  testing::run_rank_threads(2, [&](comm::Communicator& communicator) {
    Ranks ranks(communicator);
    if (ranks.rank() == 1) return ranks.fail("the disk of rank 1 is full");
    try {
      communicator.world().barrier();
    } catch (const PeerError& error) {
      heard = error.what();
    }
  });
  EXPECT_THAT(heard, HasSubstr("the disk of rank 1 is full"));
}

TEST(Ranks, WhoHasPartedDisturbsNobody) {
  testing::run_rank_threads(2, [](comm::Communicator& communicator) {
    Ranks ranks(communicator);
    if (ranks.rank() == 1) ranks.part();
    if (ranks.rank() == 1) ranks.fail("agreed on already");
    EXPECT_NO_THROW(communicator.world().barrier());
  });
}

}  // namespace
}  // namespace titan::train
