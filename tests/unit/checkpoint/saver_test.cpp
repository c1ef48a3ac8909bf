#include "core/checkpoint/saver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>

#include "core/base/error.hpp"
#include "core/checkpoint/source.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_team.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/saved_run.hpp"

namespace titan::checkpoint {
namespace {

using test::Call;
using test::Fault;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::RankCalls;
using testing::RankState;
using testing::SavedRun;
using titan::testing::error_text;

class SaverTest : public ::testing::TestWithParam<bool> {
 protected:
  SavedRun run(std::vector<std::int64_t> steps, int history = 1) const {
    SavedRun run;
    run.folder = folder_.path() / "checkpoint";
    run.is_async = GetParam();
    run.steps = std::move(steps);
    run.history = history;
    return run;
  }

  test::TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Modes, SaverTest, ::testing::Bool(),
                         [](const auto& mode) { return mode.param ? "async" : "sync"; });

TEST_P(SaverTest, SavesStepsAndKeepsTheLatest) {
  for (const std::int64_t ranks : {1, 2, 3}) {
    SavedRun saved = run({5, 10, 15, 20}, static_cast<int>(ranks));
    saved.folder /= std::to_string(ranks);
    saved.num_ranks = ranks;
    run_ranks(saved);
    EXPECT_THAT(testing::histories_in(saved.folder), ElementsAre(Pair(15, ranks), Pair(20, ranks)));
    EXPECT_THAT(testing::leftovers_in(saved.folder), IsEmpty());
    const Manifest manifest = open_titan(saved.folder / "step-20").manifest.value();
    EXPECT_EQ(manifest.origin.world_size, ranks);
    EXPECT_EQ(manifest.step, 20);
  }
}

TEST_P(SaverTest, KeepsAllWhenAskedTo) {
  SavedRun saved = run({1, 2, 3});
  saved.keep = 0;
  run_ranks(saved);
  EXPECT_THAT(testing::histories_in(saved.folder), ElementsAre(Pair(1, 1), Pair(2, 1), Pair(3, 1)));
}

TEST_P(SaverTest, TellsOfEachSaveOnce) {
  const SavedRun saved = run({});
  test::run_team(2, [&](Team& team) {
    Saver saver(team, system_calls(), saved.options());
    EXPECT_FALSE(saver.is_saving());
    EXPECT_FALSE(saver.poll());
    EXPECT_FALSE(saver.finish());
    EXPECT_FALSE(saver.last_committed());
    const RankState state(team.rank(), 2, 1, 7);
    saver.save(state.request());
    EXPECT_EQ(saver.is_saving(), saved.is_async);
    const std::optional<SaveResult> result = saved.is_async ? saver.finish() : saver.last_result();
    ASSERT_TRUE(result);
    EXPECT_EQ(result->step, 7);
    EXPECT_EQ(result->bytes, std::filesystem::file_size(saved.folder / "step-7" / shard_name(team.rank(), 2)));
    EXPECT_GT(result->seconds, 0);
    EXPECT_GT(result->stall, 0);
    EXPECT_EQ(saver.last_committed(), 7);
    EXPECT_FALSE(saver.is_saving());
    EXPECT_FALSE(saver.poll());
  });
}

TEST_P(SaverTest, ReportsTheStagingMemory) {
  const SavedRun saved = run({});
  Alone alone;
  Saver saver(alone, system_calls(), saved.options());
  const RankState state(0, 1, 1, 1);
  const std::uint64_t bytes = saver.prepare(state.request().parts);
  EXPECT_EQ(bytes > 0, saved.is_async);
  saver.save(state.request());
  saver.finish();
  EXPECT_TRUE(!saved.is_async || bytes >= saver.last_result()->bytes) << bytes;
}

TEST_P(SaverTest, AllRanksThrowTheSameAndTheNextSaveWorks) {
  for (const std::size_t culprit : {0, 1, 2}) {
    SavedRun saved = run({});
    saved.folder /= std::to_string(culprit);
    RankCalls calls(3);
    std::mutex mutex;
    std::vector<std::string> texts;
    test::run_team(3, [&](Team& team) {
      const auto rank = static_cast<std::size_t>(team.rank());
      Saver saver(team, calls[rank], saved.options());
      const std::int64_t step = static_cast<std::int64_t>(culprit) * 10 + 1;
      if (rank == culprit) calls[rank].set_fault({.call = Call::write, .error = ENOSPC});
      const RankState state(team.rank(), 3, 1, step);
      const std::string text = error_text<IoError>([&] {
        saver.save(state.request());
        saver.finish();
      });
      EXPECT_FALSE(saver.is_saving());
      {
        const std::lock_guard lock(mutex);
        texts.push_back(text);
      }
      calls[rank].clear_fault();
      const RankState next(team.rank(), 3, 1, step + 1);
      saver.save(next.request());
      saver.finish();
      EXPECT_EQ(saver.last_committed(), step + 1);
    });
    EXPECT_EQ(texts, std::vector<std::string>(3, texts.front()));
    EXPECT_THAT(texts.front(), HasSubstr("step-" + std::to_string(culprit * 10 + 1) + " failed on rank " +
                                         std::to_string(culprit) + ": "));
    EXPECT_THAT(texts.front(), HasSubstr("need "));
    EXPECT_THAT(testing::leftovers_in(saved.folder), IsEmpty());
  }
}

TEST_P(SaverTest, AFolderThatCannotBeMadeFailsOnAllRanks) {
  SavedRun saved = run({});
  saved.folder = folder_.write("file", "") / "checkpoint";
  std::atomic<int> num_failed = 0;
  test::run_team(2, [&](Team& team) {
    const std::string text = error_text<CreateError>([&] { Saver(team, system_calls(), saved.options()); });
    EXPECT_THAT(text, HasSubstr("failed on rank 0: "));
    ++num_failed;
  });
  EXPECT_EQ(num_failed, 2);
}

TEST_P(SaverTest, AStepThatIsThereIsNotWrittenAgain) {
  run_ranks(run({5}));
  SavedRun again = run({5}, 2);
  again.loaded = 5;
  EXPECT_THAT(error_text<CreateError>([&] { run_ranks(again); }), HasSubstr("step-5"));
  EXPECT_THAT(testing::histories_in(again.folder), ElementsAre(Pair(5, 1)));
}

TEST_P(SaverTest, AnotherHistoryIsMovedAwayBeforeTheFirstCommit) {
  SavedRun first = run({10, 15, 20});
  first.keep = 0;
  run_ranks(first);
  SavedRun second = run({15}, 2);
  second.loaded = 10;
  run_ranks(second);
  EXPECT_THAT(testing::histories_in(second.folder), ElementsAre(Pair(10, 1), Pair(15, 2)));
  EXPECT_THAT(testing::histories_in(second.folder / "abandoned-run2"), ElementsAre(Pair(15, 1), Pair(20, 1)));

  run_ranks(run({30}, 3));
  EXPECT_THAT(testing::histories_in(second.folder), ElementsAre(Pair(30, 3)))
      << "a run that began with nothing keeps nothing of another";
}

TEST_P(SaverTest, AbandonedStepsOfARunWithoutANameHaveAFolderToo) {
  run_ranks(run({10}));
  const SavedRun second = run({5}, 2);
  Alone alone;
  Saver::Options options = second.options();
  options.run_id.clear();
  Saver saver(alone, system_calls(), options);
  const RankState state(0, 1, 2, 5);
  saver.save(state.request());
  saver.finish();
  EXPECT_THAT(testing::leftovers_in(second.folder), ElementsAre(::testing::MatchesRegex("abandoned-[0-9a-f]{8}")));
}

TEST_P(SaverTest, AFailedFirstSaveLeavesTheOtherHistory) {
  run_ranks(run({10, 20}));
  SavedRun second = run({15}, 2);
  second.loaded = 10;
  RankCalls calls(2);
  calls[1].set_fault({.call = Call::fsync, .error = EIO});
  EXPECT_THROW(run_ranks(second, &calls), IoError);
  EXPECT_THAT(testing::histories_in(second.folder), ElementsAre(Pair(10, 1), Pair(20, 1)));
}

TEST_P(SaverTest, WhatIsUnderWayAtTheEndIsGivenUp) {
  const SavedRun saved = run({});
  RankCalls calls(2);
  std::atomic<bool> was_saving = false;
  test::run_team(2, [&](Team& team) {
    const auto rank = static_cast<std::size_t>(team.rank());
    Saver saver(team, calls[rank], saved.options());
    calls[rank].set_fault({.deed = Fault::Deed::delay, .call = Call::write, .delay = std::chrono::milliseconds(50)});
    const RankState state(team.rank(), 2, 1, 3);
    saver.save(state.request());
    was_saving = saver.is_saving();
  });
  EXPECT_EQ(was_saving, saved.is_async);
  EXPECT_EQ(committed_steps(saved.folder).empty(), saved.is_async);
  // Without a word to each other a rank may make its file after rank 0 has tidied up; the next start sweeps that.
  Alone alone;
  Saver next(alone, system_calls(), saved.options());
  EXPECT_THAT(testing::leftovers_in(saved.folder), IsEmpty());
}

TEST_P(SaverTest, APeerThatIsLostEndsASaveWithoutACommit) {
  const SavedRun saved = run({});
  RankCalls calls(2);
  std::atomic<bool> has_lost = false;
  EXPECT_THROW(test::run_team(2,
                              [&](Team& team) {
                                const auto rank = static_cast<std::size_t>(team.rank());
                                Saver saver(team, calls[rank], saved.options());
                                if (rank == 1) throw InternalError("gone");
                                const RankState state(0, 2, 1, 3);
                                EXPECT_THROW(saver.save(state.request()), PeerError);
                                has_lost = true;
                              }),
               InternalError);
  EXPECT_TRUE(has_lost);
  EXPECT_THAT(committed_steps(saved.folder), IsEmpty());
}

TEST(AsyncSaverTest, TrainingGoesOnWhileTheDiskIsSlow) {
  test::TemporaryFolder folder;
  SavedRun saved;
  saved.folder = folder.path();
  saved.is_async = true;
  RankCalls calls(2);
  test::run_team(2, [&](Team& team) {
    const auto rank = static_cast<std::size_t>(team.rank());
    Saver saver(team, calls[rank], saved.options());
    calls[rank].set_fault({.deed = Fault::Deed::delay, .call = Call::fsync, .delay = std::chrono::milliseconds(300)});
    {
      const RankState state(team.rank(), 2, 1, 1);
      saver.save(state.request());
    }  // the tensors may change as soon as save() has returned
    int num_steps = 0;
    for (; saver.is_saving() && !saver.poll(); ++num_steps) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_GT(num_steps, 5);
    const RankState state(team.rank(), 2, 1, 2);
    saver.save(state.request());
    const RankState third(team.rank(), 2, 1, 3);
    saver.save(third.request());
    EXPECT_EQ(saver.last_committed(), 2) << "saves do not overlap";
    saver.finish();
  });
  EXPECT_THAT(testing::histories_in(saved.folder), ElementsAre(Pair(2, 1), Pair(3, 1)));
}

}  // namespace
}  // namespace titan::checkpoint
