#include "core/train/checkpoint/rank_team.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "core/base/error.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::train {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RankTeam, GathersEveryRanksText) {
  testing::run_rank_threads(3, [](comm::Communicator& communicator) {
    Ranks ranks(communicator);
    RankTeam team(ranks);
    EXPECT_EQ(team.size(), 3);
    EXPECT_EQ(team.rank(), communicator.rank());
    EXPECT_THAT(team.gather(concat("of ", team.rank())), ElementsAre("of 0", "of 1", "of 2"));
  });
}

TEST(RankTeam, NamesItsActivityInTheRecords) {
  testing::run_rank_threads(2, [](comm::Communicator& communicator) {
    Ranks ranks(communicator);
    RankTeam team(ranks);
    team.set_activity("checkpoint.save");
    team.gather("text");
    EXPECT_EQ(communicator.records().snapshot().back().module, "checkpoint.save");
  });
}

TEST(WorkTogether, OutlastsTheDeadlineOfACall) {
  testing::run_rank_threads(2, [](comm::Communicator& communicator) {
    communicator.set_timeout(std::chrono::milliseconds(2000));
    Ranks ranks(communicator);
    RankTeam team(ranks);
    bool is_done = false;
    work_together(team, "waiting", [&] {
      if (team.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(2500));
      is_done = true;
    });
    EXPECT_TRUE(is_done);
  });
}

TEST(WorkTogether, AllFailAsTheFirstThatDid) {
  testing::run_rank_threads(3, [](comm::Communicator& communicator) {
    Ranks ranks(communicator);
    RankTeam team(ranks);
    const std::string text = testing::error_text<DataError>([&] {
      work_together(team, "reading step-4", [&] {
        if (team.rank() == 1) throw DataError("[checkpoint] damaged file");
        if (team.rank() == 2) throw IoError("[checkpoint] later in order");
      });
    });
    EXPECT_THAT(text, AllOf(HasSubstr("reading step-4 failed on rank 1"), HasSubstr("damaged file")));
  });
}

TEST(WorkTogether, OneRankThrowsWhatItWorkThrew) {
  checkpoint::Alone team;
  EXPECT_EQ(testing::error_text<ConfigError>(
                [&] { work_together(team, "checking", [] { throw ConfigError("[model] no such name"); }); }),
            "[model] no such name");
}

}  // namespace
}  // namespace titan::train
