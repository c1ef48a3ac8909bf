#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "core/checkpoint/saver.hpp"
#include "tests/support/faulty_calls.hpp"

namespace titan::checkpoint::testing {

/// A run of several ranks that does nothing but save.
struct SavedRun {
  std::filesystem::path folder = {};
  std::int64_t num_ranks = 2;
  bool is_async = false;
  std::int64_t keep = 2;
  std::optional<std::int64_t> loaded = std::nullopt;
  std::vector<std::int64_t> steps = {};
  int history = 1;  // what is saved says of which history it is

  Saver::Options options() const;
};

/// The ranks' system calls: a deque, because they do not move.
using RankCalls = std::deque<test::FaultyCalls>;

/// What one rank saves of a step; owns the memory.
class RankState {
 public:
  RankState(std::int64_t rank, std::int64_t num_ranks, int history, std::int64_t step);
  SaveRequest request() const;

 private:
  std::int64_t rank_, step_;
  std::vector<float> rows_;
  std::vector<std::int64_t> counts_;
  std::vector<HeldPart> parts_;
};

/// The rank's part of the run. `committed` is told each step that save() or poll() reported, on every rank.
void run_rank(Team& team, SystemCalls& calls, const SavedRun& run,
              const std::function<void(std::int64_t step)>& committed = nullptr);
/// All ranks, as threads; without `calls` the machine's own.
void run_ranks(const SavedRun& run, RankCalls* calls = nullptr,
               const std::function<void(std::int64_t step)>& committed = nullptr);

/// The history of a committed step. Fails the test unless the step is whole: verified, and of one history in all its
/// elements.
int history_of(const std::filesystem::path& folder, std::int64_t step);
/// The same for all committed steps, by increasing step.
std::vector<std::pair<std::int64_t, int>> histories_in(const std::filesystem::path& folder);

/// Names in the folder that no committed step has.
std::vector<std::string> leftovers_in(const std::filesystem::path& folder);

}  // namespace titan::checkpoint::testing
