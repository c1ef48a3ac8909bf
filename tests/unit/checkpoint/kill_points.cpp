#include "tests/unit/checkpoint/kill_points.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <tuple>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "tests/support/process_team.hpp"
#include "tests/support/temporary_folder.hpp"

namespace titan::checkpoint::testing {

namespace {

namespace fs = std::filesystem;

using test::Call;
using test::Fault;
using Histories = std::vector<std::pair<std::int64_t, int>>;

constexpr const char* kId = "0123456789abcdef0123456789abcdef";

/// Thousands of saves are not worth a line each.
class SilentLog {
 public:
  SilentLog() {
    set_log_sink([](LogLevel, std::string_view, std::string_view) {});
  }
  ~SilentLog() { set_log_sink(nullptr); }
  SilentLog(const SilentLog&) = delete;
  SilentLog& operator=(const SilentLog&) = delete;
};

/// A number that a child process leaves for its parent.
class SharedStep {
 public:
  SharedStep()
      : memory_(::mmap(nullptr, sizeof(std::atomic<std::int64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                       -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    step_ = new (memory_) std::atomic<std::int64_t>(-1);
  }
  ~SharedStep() { ::munmap(memory_, sizeof(std::atomic<std::int64_t>)); }
  SharedStep(const SharedStep&) = delete;
  SharedStep& operator=(const SharedStep&) = delete;

  std::atomic<std::int64_t>& operator*() { return *step_; }

 private:
  void* memory_;
  std::atomic<std::int64_t>* step_;
};

SavedRun in_folder(const KillScenario& scenario, const fs::path& folder) {
  SavedRun run = scenario.run;
  run.folder = folder;
  return run;
}

constexpr int kEnded = 1, kFailed = 2, kLostPeer = 3;

/// The exit status of a child process that does this; nothing may hang in it.
template <class Action>
[[noreturn]] void exit_after(const Action& action) {
  constexpr unsigned kMostSeconds = 120;
  ::alarm(kMostSeconds);
  try {
    action();
  } catch (const PeerError&) {
    ::_exit(kLostPeer);
  } catch (...) {
    ::_exit(kFailed);
  }
  ::_exit(kEnded);
}

template <class Action>
pid_t start(const Action& action) {
  const pid_t child = ::fork();
  if (child == 0) exit_after(action);
  EXPECT_GT(child, 0);
  return child;
}

/// How a process ended: an exit status, or minus a signal.
int end_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/// Ranks are threads of one process.
void kill_all(const SavedRun& run, const KillPoint& point, SharedStep& committed) {
  const pid_t child = start([&] {
    RankCalls calls(static_cast<std::size_t>(run.num_ranks));
    calls[static_cast<std::size_t>(point.rank)].set_fault({.deed = point.deed, .at = point.at});
    run_ranks(run, &calls, [&](std::int64_t step) { *committed = step; });
  });
  EXPECT_EQ(end_of(child), -SIGKILL) << "the run ended by itself";
}

/// Ranks are processes, of which the others see that one is gone.
void kill_one(const SavedRun& run, const KillPoint& point, SharedStep& committed) {
  test::ProcessTeam connections(run.num_ranks);
  std::vector<pid_t> children;
  for (std::int64_t rank = 0; rank < run.num_ranks; ++rank) {
    children.push_back(start([&] {
      const std::unique_ptr<Team> team = connections.join(rank);
      test::FaultyCalls calls;
      if (rank == point.rank) calls.set_fault({.deed = point.deed, .at = point.at});
      run_rank(*team, calls, run, [&](std::int64_t step) { *committed = step; });
    }));
  }
  connections.leave();
  for (std::int64_t rank = 0; rank < run.num_ranks; ++rank) {
    const int expected = rank == point.rank ? -SIGKILL : kLostPeer;
    EXPECT_EQ(end_of(children[static_cast<std::size_t>(rank)]), expected) << "rank " << rank;
  }
}

/// Runs the scenario until the kill. Returns the last step of which a rank was told that it is committed; -1: none.
std::int64_t run_and_kill(const KillScenario& scenario, const KillPoint& point, const fs::path& folder) {
  SharedStep committed;
  (scenario.one_dies ? kill_one : kill_all)(in_folder(scenario, folder), point, committed);
  return *committed;
}

/// Steps of the run that began with `loaded` replace all of another history after it, or none.
void expect_one_history(const KillScenario& scenario, const Histories& found) {
  const std::int64_t begin = scenario.run.loaded.value_or(-1);
  std::set<int> newer;
  for (const auto& [step, history] : found) {
    if (step > begin) newer.insert(history);
    EXPECT_TRUE(step > begin || history == 1) << step;
  }
  EXPECT_LE(newer.size(), 1U) << "two histories are mixed";
  // Of an older history the newest go first, and then, when there is a new one, retention takes the oldest.
  if (scenario.run.history == 1 || newer.contains(scenario.run.history)) return;
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].first, scenario.older.at(i)) << "a gap";
}

/// `committed` is the last step of which the run was told; -1: none.
void expect_good_steps(const KillScenario& scenario, std::int64_t committed, const Histories& found) {
  const std::vector<std::int64_t>& steps = scenario.run.steps;
  const auto told = committed < 0 ? steps.end() : std::find(steps.begin(), steps.end(), committed);
  const auto next = committed < 0 ? steps.begin() : told + 1;
  const auto has = [&](std::int64_t step, int history) {
    return std::find(found.begin(), found.end(), std::pair(step, history)) != found.end();
  };
  EXPECT_TRUE(committed < 0 || has(committed, scenario.run.history)) << "step " << committed << " was committed";
  if (committed < 0 && !scenario.older.empty()) {
    EXPECT_TRUE(has(*scenario.run.loaded, 1) || has(steps.front(), scenario.run.history)) << "no good step";
  }
  for (const auto& [step, history] : found) {
    const bool is_known =
        history != scenario.run.history || step <= committed || (next != steps.end() && step == *next);
    EXPECT_TRUE(is_known) << "step " << step << " was not begun";
  }
  expect_one_history(scenario, found);
}

/// The next run begins with the newest step.
void expect_next_run(const KillScenario& scenario, const fs::path& folder, const Histories& found) {
  SavedRun next = in_folder(scenario, folder);
  next.num_ranks = 1;
  next.history = 9;
  next.loaded = found.empty() ? std::nullopt : std::optional(found.back().first);
  next.steps = {next.loaded.value_or(0) + 100};
  run_ranks(next);
  Histories expected = {{next.steps.front(), 9}};
  if (!found.empty()) expected.insert(expected.begin(), found.back());
  EXPECT_EQ(histories_in(folder), expected);
  for (const std::string& name : leftovers_in(folder)) EXPECT_THAT(name, ::testing::StartsWith("abandoned-"));
}

/// A file's name without what differs from save to save.
std::string kind_of_file(const std::string& path) {
  std::string kind;
  for (const char letter : fs::path(path).filename().string()) {
    const bool is_hex = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
    if (!is_hex) kind += letter;
  }
  return kind;
}

}  // namespace

void KillScenario::prepare(const fs::path& folder) const {
  fs::create_directories(folder);
  if (!older.empty()) {
    SavedRun before;
    before.folder = folder;
    before.keep = 0;
    before.steps = older;
    run_ranks(before);
  }
  if (!has_leftovers) return;
  for (const std::string& left : {std::string(".step-31.tmp-") + kId, std::string(".trash-step-3-") + kId}) {
    fs::create_directories(folder / left / "deeper");
    for (const char* file : {"shard-00000-of-00002.safetensors", "train_state.json", "deeper/x"}) {
      std::ofstream(folder / left / file) << "half";
    }
  }
}

std::vector<KillScenario> kill_scenarios() {
  std::vector<KillScenario> scenarios;
  for (const bool is_async : {false, true}) {
    const std::string mode = is_async ? "Async" : "Sync";
    for (const std::int64_t ranks : {1, 2, 4}) {
      scenarios.push_back({mode + std::to_string(ranks) + "RanksRetain", {.num_ranks = ranks, .steps = {1, 2, 3, 10}}});
    }
    SavedRun rollback{.loaded = 10, .steps = {15, 18, 20}, .history = 2};
    SavedRun restart{.loaded = 30, .steps = {31, 32}, .history = 2};
    scenarios.push_back({mode + "Rollback", rollback, {5, 10, 15, 20}});
    scenarios.push_back({mode + "AfterAKill", restart, {20, 30}, true});
    scenarios.push_back({mode + "RollbackOneDies", rollback, {5, 10, 15, 20}, false, true});
    scenarios.push_back({mode + "AfterAKillOneDies", restart, {20, 30}, true, true});
    SavedRun three{.num_ranks = 3, .steps = {1, 2, 3, 10}};
    scenarios.push_back({mode + "3RanksOneDies", three, {}, false, true});
    for (KillScenario& scenario : scenarios) {
      if (scenario.name.starts_with(mode)) scenario.run.is_async = is_async;
    }
  }
  return scenarios;
}

std::string KillPoint::text() const {
  constexpr std::array<const char*, 3> kDeeds = {"before", "halfway through", "after"};
  return "killed " + std::string(kDeeds.at(static_cast<std::size_t>(deed))) + ' ' + std::string(call_name(call.call)) +
         ' ' + fs::path(call.path).filename().string() + ", call " + std::to_string(at) + " of rank " +
         std::to_string(rank);
}

std::vector<KillPoint> kill_points(const KillScenario& scenario) {
  const SilentLog silent;
  const test::TemporaryFolder folder;
  scenario.prepare(folder.path());
  const auto ranks = static_cast<std::size_t>(scenario.run.num_ranks);
  RankCalls calls(ranks);
  run_ranks(in_folder(scenario, folder.path()), &calls);
  std::vector<KillPoint> points;
  for (const std::size_t rank : std::set<std::size_t>{0, ranks - 1}) {
    std::int64_t at = 0;
    for (const test::MadeCall& call : calls[rank].made()) {
      ++at;
      for (const Fault::Deed deed : {Fault::Deed::kill_before, Fault::Deed::kill_halfway, Fault::Deed::kill_after}) {
        if (deed == Fault::Deed::kill_halfway && call.call != Call::write) continue;
        points.push_back({static_cast<std::int64_t>(rank), at, deed, call});
      }
    }
  }
  return points;
}

std::vector<KillPoint> sample(const std::vector<KillPoint>& points) {
  std::map<std::tuple<std::int64_t, Fault::Deed, Call, std::string>, std::vector<KillPoint>> kinds;
  for (const KillPoint& point : points) {
    kinds[{point.rank, point.deed, point.call.call, kind_of_file(point.call.path)}].push_back(point);
  }
  std::vector<KillPoint> chosen;
  for (const auto& [kind, all] : kinds) chosen.push_back(all[all.size() / 2]);
  return chosen;
}

void expect_to_survive(const KillScenario& scenario, const KillPoint& point) {
  SCOPED_TRACE(point.text());
  const SilentLog silent;
  const test::TemporaryFolder folder;
  scenario.prepare(folder.path());
  const std::int64_t committed = run_and_kill(scenario, point, folder.path());
  const Histories found = histories_in(folder.path());
  expect_good_steps(scenario, committed, found);
  expect_next_run(scenario, folder.path(), found);
}

}  // namespace titan::checkpoint::testing
