// Every system call of a run's saves fails, or does less than it was asked to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <tuple>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_team.hpp"
#include "tests/unit/checkpoint/saved_run.hpp"

namespace titan::checkpoint::testing {
namespace {

using test::Call;
using test::Fault;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<std::int64_t> kSteps = {1, 2, 3, 4};
constexpr std::int64_t kNumRanks = 2;

/// What one rank was thrown by step; nothing for a step that was saved, and under -1 what making a Saver threw.
using Failures = std::map<std::int64_t, std::pair<Exit, std::string>>;

/// How such a call may fail on a disk.
std::vector<int> errors_of(Call call) {
  switch (call) {
    case Call::open:
      return {EACCES, ENOSPC, EMFILE};
    case Call::write:
      return {ENOSPC, EIO, EDQUOT, EFBIG};
    case Call::fsync:
      return {EIO, ENOSPC};
    case Call::mkdir:
      return {EROFS, ENOSPC};
    default:
      return {EIO};
  }
}

class WriteFaultsTest : public ::testing::TestWithParam<std::tuple<bool, std::int64_t>> {
 protected:
  void SetUp() override {
    set_log_sink([](LogLevel, std::string_view, std::string_view) {});
  }
  void TearDown() override { set_log_sink(nullptr); }

  SavedRun run(const std::filesystem::path& folder) const {
    SavedRun run;
    run.folder = folder;
    run.num_ranks = kNumRanks;
    run.is_async = std::get<0>(GetParam());
    return run;
  }
  static std::size_t faulty_rank() { return static_cast<std::size_t>(std::get<1>(GetParam())); }

  /// Saves all steps, whether or not one fails, and one more without faults. Returns what each rank was thrown.
  std::vector<Failures> save_all(const SavedRun& run, RankCalls& calls) {
    std::vector<Failures> failures(kNumRanks);
    test::run_team(kNumRanks, [&](Team& team) {
      const auto rank = static_cast<std::size_t>(team.rank());
      const auto attempt = [&](std::int64_t step, const auto& action) {
        try {
          action();
        } catch (const Error& error) {
          failures[rank][step] = {error.exit(), error.what()};
        }
      };
      std::unique_ptr<Saver> saver;
      const auto open = [&] { saver = std::make_unique<Saver>(team, calls[rank], run.options()); };
      attempt(-1, open);
      if (!saver) open();
      const auto save = [&](std::int64_t step) {
        const RankState state(team.rank(), kNumRanks, run.history, step);
        saver->save(state.request());
        saver->finish();
      };
      for (const std::int64_t step : kSteps) attempt(step, [&] { save(step); });
      if (rank == faulty_rank()) before_the_last_ = calls[rank].made();
      calls[rank].clear_fault();
      save(kSteps.back() + 1);
    });
    return failures;
  }

  /// A failed save leaves nothing; every other step was committed, and the newest are whole.
  static void expect_good(const SavedRun& run, const Failures& failures) {
    std::vector<std::int64_t> saved;
    for (const std::int64_t step : kSteps) {
      if (!failures.contains(step)) saved.push_back(step);
    }
    saved.push_back(kSteps.back() + 1);
    std::vector<std::pair<std::int64_t, int>> newest;
    for (std::size_t i = saved.size() - 2; i < saved.size(); ++i) newest.emplace_back(saved[i], 1);
    auto found = histories_in(run.folder);
    // An old step that could not be removed may be there still.
    if (found.size() > newest.size()) found.erase(found.begin(), found.end() - 2);
    EXPECT_EQ(found, newest);
  }

  /// Makes the faulty rank's call fail.
  void check(const Fault& fault, const test::MadeCall& call) {
    SCOPED_TRACE(std::string(call_name(call.call)) + ' ' + call.path + ": errno " + std::to_string(fault.error) +
                 ", call " + std::to_string(fault.at));
    const test::TemporaryFolder folder;
    const SavedRun saved = run(folder.path());
    RankCalls calls(kNumRanks);
    calls[faulty_rank()].set_fault(fault);
    const std::vector<Failures> failures = save_all(saved, calls);
    EXPECT_TRUE(calls[faulty_rank()].has_struck());
    EXPECT_EQ(failures.front(), failures.back()) << "the ranks were told the same";
    EXPECT_LE(failures.front().size(), 1U) << "the next save works";
    for (const auto& [step, failure] : failures.front()) {
      EXPECT_THAT(failure.first, AnyOf(Exit::cannot_create, Exit::io)) << failure.second;
      EXPECT_THAT(failure.second, HasSubstr("failed on rank " + std::to_string(faulty_rank())));
    }
    expect_good(saved, failures.front());
    expect_clean(saved, call);
    const bool is_harmless = fault.deed == Fault::Deed::shorten || fault.error == EINTR;
    if (call.call == Call::write) {
      EXPECT_EQ(failures.front().size(), is_harmless ? 0U : 1U);
    }
  }

  /// What was being made is removed, unless removing is what failed: then the next start sweeps it.
  static void expect_clean(const SavedRun& saved, const test::MadeCall& call) {
    const bool removing_failed = call.call == Call::unlink || call.call == Call::rmdir || call.call == Call::rename;
    if (!removing_failed) {
      EXPECT_THAT(leftovers_in(saved.folder), IsEmpty());
    }
    SavedRun next = saved;
    next.loaded = kSteps.back() + 1;
    run_ranks(next);
    EXPECT_THAT(leftovers_in(saved.folder), IsEmpty());
  }

  std::vector<test::MadeCall> calls_of_a_good_run() {
    const test::TemporaryFolder folder;
    RankCalls calls(kNumRanks);
    const std::vector<Failures> failures = save_all(run(folder.path()), calls);
    EXPECT_THAT(failures, ElementsAre(Failures(), Failures()));
    return before_the_last_;
  }

  std::vector<test::MadeCall> before_the_last_;  // what the faulty rank called until its last save
};

INSTANTIATE_TEST_SUITE_P(ModesAndRanks, WriteFaultsTest,
                         ::testing::Combine(::testing::Bool(), ::testing::Values(0, kNumRanks - 1)),
                         [](const auto& one) {
                           return std::string(std::get<0>(one.param) ? "Async" : "Sync") + "Rank" +
                                  std::to_string(std::get<1>(one.param));
                         });

TEST_P(WriteFaultsTest, ACallThatFailsCostsOneStepAtMost) {
  std::map<Call, std::int64_t> counts;
  for (const test::MadeCall& call : calls_of_a_good_run()) {
    const std::int64_t at = ++counts[call.call];
    for (const int error : errors_of(call.call)) {
      check({.call = call.call, .at = at, .error = error}, call);
      if (HasFailure()) return;
    }
  }
}

TEST_P(WriteFaultsTest, ShortWritesAndInterruptionsCostNothing) {
  std::int64_t num_writes = 0;
  for (const test::MadeCall& call : calls_of_a_good_run()) {
    if (call.call != Call::write) continue;
    ++num_writes;
    check({.deed = Fault::Deed::shorten, .call = Call::write, .at = num_writes}, call);
    check({.call = Call::write, .at = num_writes, .error = EINTR}, call);
    if (HasFailure()) return;
  }
}

// After a failure the kernel may have dropped the pages: a second fsync would say that all is well.
TEST_P(WriteFaultsTest, AFailedSyncIsNotTriedAgain) {
  std::int64_t num_syncs = 0;
  for (const test::MadeCall& call : calls_of_a_good_run()) {
    if (call.call != Call::fsync) continue;
    ++num_syncs;
    if (call.path.find(".tmp-") == std::string::npos) continue;  // the parent folder, which other saves sync
    const test::TemporaryFolder folder;
    RankCalls calls(kNumRanks);
    calls[faulty_rank()].set_fault({.call = Call::fsync, .at = num_syncs, .error = EIO});
    const std::vector<Failures> failures = save_all(run(folder.path()), calls);
    EXPECT_EQ(failures.front().size(), 1U);
    EXPECT_EQ(failures.front().begin()->second.first, Exit::io);
    std::map<std::string, int> num_of_path;
    for (const test::MadeCall& made : calls[faulty_rank()].made()) {
      const bool is_of_a_save = made.call == Call::fsync && made.path.find(".tmp-") != std::string::npos;
      EXPECT_TRUE(!is_of_a_save || ++num_of_path[made.path] == 1) << made.path;
    }
  }
}

TEST_P(WriteFaultsTest, AFullDiskSaysWhatIsNeededAndThere) {
  const test::TemporaryFolder folder;
  RankCalls calls(kNumRanks);
  calls[faulty_rank()].set_fault({.call = Call::write, .at = 1, .error = ENOSPC});
  const std::vector<Failures> failures = save_all(run(folder.path()), calls);
  ASSERT_EQ(failures.front().size(), 1U);
  const auto& [exit, text] = failures.front().at(1);
  EXPECT_EQ(exit, Exit::io);
  EXPECT_THAT(text, ::testing::AllOf(HasSubstr("need "), HasSubstr("have "), HasSubstr(folder.path().string())));
}

}  // namespace
}  // namespace titan::checkpoint::testing
