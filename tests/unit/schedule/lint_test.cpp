#include "core/schedule/lint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "tests/unit/schedule/tables.hpp"

namespace titan::schedule {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Lint, SoundTablesHaveNoProblems) {
  EXPECT_THAT(lint(two_ranks()), IsEmpty());
  EXPECT_THAT(lint(two_ranks_of_two_stages()), IsEmpty());
  EXPECT_NO_THROW(require_sound(two_ranks()));
}

TEST(Lint, AMissingReceiveIsNamedWithItsPartner) {
  Table table = two_ranks();
  table.ranks[1].actions.erase(find(table.ranks[1], "1RECV_F1"));
  EXPECT_THAT(lint(table), ElementsAre("rank 1: 1RECV_F1 from rank 0 is missing, 1F1 needs it"));
}

TEST(Lint, AMissingSendIsNamedWithItsPartner) {
  Table table = two_ranks();
  table.ranks[1].actions.erase(find(table.ranks[1], "1SEND_B0"));
  EXPECT_THAT(lint(table), ElementsAre("rank 1: 1SEND_B0 to rank 0 is missing after 1B0"));
}

TEST(Lint, AReceiveWithoutASendIsNamed) {
  Table table = two_ranks();
  table.ranks[0].actions.push_back(actions("0RECV_F0").front());
  EXPECT_THAT(lint(table), ElementsAre("rank 0: 0RECV_F0 has no partner: there is nothing to transfer"));
}

TEST(Lint, SwappedReceivesAreNamed) {
  Table table = two_ranks();
  table.ranks[1].actions = actions("1RECV_F1 1RECV_F0 1F0 1B0 1SEND_B0 1F1 1B1 1SEND_B1");
  EXPECT_THAT(lint(table), ElementsAre("rank 0 sends 0SEND_F0 to rank 1 where that one receives 1RECV_F1 first"));
}

TEST(Lint, ABackwardBeforeItsForwardIsNamed) {
  Table table = two_ranks();
  std::iter_swap(find(table.ranks[1], "1F1"), find(table.ranks[1], "1B1"));
  EXPECT_THAT(lint(table), ElementsAre("rank 1: 1B1 comes before 1F1"));
}

TEST(Lint, AForwardBeforeItsInputIsNamed) {
  Table table = two_ranks();
  std::iter_swap(find(table.ranks[1], "1F1"), find(table.ranks[1], "1RECV_F1"));
  EXPECT_THAT(lint(table), ElementsAre("rank 1: 1F1 comes before 1RECV_F1 from rank 0"));
}

TEST(Lint, AMicroBatchTwiceIsNamed) {
  Table table = two_ranks();
  const titan_action again = *find(table.ranks[0], "0F1");
  table.ranks[0].actions.push_back(again);
  EXPECT_THAT(lint(table), ElementsAre("rank 0: 0F1 is there twice"));
}

TEST(Lint, AMicroBatchThatAStageNeverSeesIsNamed) {
  Table table = two_ranks();
  table.num_micro_batches = 3;
  EXPECT_THAT(lint(table), Contains("rank 1: 1F2 is missing: stage 1 never sees micro-batch 2"));
}

TEST(Lint, AMicroBatchThatThereIsNotIsNamed) {
  Table table = two_ranks();
  table.num_micro_batches = 1;
  EXPECT_THAT(lint(table), Contains("rank 0: 0F1 is of a micro-batch that there is not, of 1"));
}

TEST(Lint, ABackwardHasNoPlaceInValidation) {
  Table table = two_ranks();
  table.training = false;
  EXPECT_THAT(lint(table), Contains("rank 0: 0B0 is there, in a pass that is forward only"));
}

TEST(Lint, ALostLayerIsNamed) {
  Table table = two_ranks();
  table.ranks[1].stages[0] = {1, 3, 1, 0};
  EXPECT_THAT(lint(table), ElementsAre("block layers.1 is on no stage, before stage 1 on rank 1"));
  table.ranks[1].stages[0] = {1, 2, 1, 0};
  EXPECT_THAT(lint(table), ElementsAre("block output is on no stage, after the last one"));
}

TEST(Lint, ALayerOnTwoStagesIsNamed) {
  Table table = two_ranks();
  table.ranks[1].stages[0] = {1, 1, 3, 0};
  EXPECT_THAT(lint(table), ElementsAre("block layers.0 is on two stages, the second is stage 1 on rank 1"));
}

TEST(Lint, StagesAreOnOneRankEach) {
  Table table = two_ranks();
  table.ranks[1].stages[0].index = 0;
  EXPECT_THAT(lint(table), ElementsAre("stage 0 is on rank 0 and on rank 1"));
  table.ranks[1].stages[0].index = 2;
  EXPECT_THAT(lint(table), ElementsAre("stage 1 is on no rank"));
}

TEST(Lint, AnActionOfAnotherRanksStageIsNamed) {
  Table table = two_ranks();
  find(table.ranks[1], "1F1")->stage = 0;
  EXPECT_THAT(lint(table), Contains("rank 1: 0F1 is of a stage that is not on this rank"));
}

// Both send before they receive: buffers help, a rendezvous does not.
TEST(Lint, ADeadlockUnderRendezvousIsNamed) {
  Table table = two_ranks();
  table.ranks[0].actions = actions("0F0 0SEND_F0 0F1 0SEND_F1 0RECV_B0 0B0 0RECV_B1 0B1");
  const std::vector<std::string> problems = lint(table);
  EXPECT_THAT(problems,
              ElementsAre("deadlock where sends wait for their receives: rank 0 waits in 0SEND_F1 for rank 1, "
                          "rank 1 waits in 1SEND_B0 for rank 0"));
}

TEST(Lint, ADeadlockUnderAnySendIsNamed) {
  Table table = two_ranks_of_two_stages();
  table.ranks[0].actions = actions("2RECV_F0 0F0 0SEND_F0 2F0 2SEND_F0 2RECV_B0 2B0 2SEND_B0 0RECV_B0 0B0");
  EXPECT_THAT(lint(table),
              ElementsAre(HasSubstr("deadlock where sends are buffered: rank 0 waits in 2RECV_F0 for rank 1, "
                                    "rank 1 waits in 1RECV_F0 for rank 0")));
}

TEST(Lint, StagesOfOneRankHandOverInOrder) {
  Table table = two_ranks_of_two_stages();
  // A "V": stages 1 and 2 share rank 1.
  table.ranks[0].stages = {{0, 0, 1, 0}, {3, 3, 1, 0}};
  table.ranks[1].stages = {{1, 1, 1, 0}, {2, 2, 1, 0}};
  table.ranks[0].actions = actions("0F0 0SEND_F0 3RECV_F0 3F0 3B0 3SEND_B0 0RECV_B0 0B0");
  table.ranks[1].actions = actions("1RECV_F0 1F0 2F0 2SEND_F0 2RECV_B0 2B0 1B0 1SEND_B0");
  EXPECT_THAT(lint(table), IsEmpty());
  std::iter_swap(find(table.ranks[1], "1B0"), find(table.ranks[1], "2B0"));
  EXPECT_THAT(lint(table), Contains("rank 1: 1B0 comes before 2B0, which it needs"));
}

TEST(Lint, TheErrorNamesTheScheduleAndTheFirstProblems) {
  Table table = two_ranks();
  table.num_micro_batches = 4;
  try {
    require_sound(table);
    FAIL() << "a table without half its micro-batches passed";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("[schedule] a pipeline schedule cannot run: 1F1B, training: rank 0: 0F2 is missing"));
    EXPECT_THAT(error.what(), HasSubstr("more"));
  }
}

}  // namespace
}  // namespace titan::schedule
