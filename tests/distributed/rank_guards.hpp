#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "tests/distributed/rank_runs.hpp"
#include "tests/support/function_guard.hpp"

namespace titan::testing {

/// Guards of a test, one for each rank, before those of plugins: they live as long as it.
class RankGuards {
 public:
  explicit RankGuards(std::function<void(FunctionGuard&, std::int64_t rank)> make) : make_(std::move(make)) {}

  RankRuns in(RankRuns runs) {
    runs.add = [this](std::int64_t rank, EngineRun& run) {
      const std::scoped_lock lock(mutex_);
      auto& guard = guards_.emplace_back(std::make_unique<FunctionGuard>());
      make_(*guard, rank);
      run.guards.insert(run.guards.begin(), guard->plugin());
    };
    return runs;
  }

 private:
  std::function<void(FunctionGuard&, std::int64_t)> make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<FunctionGuard>> guards_;
};

}  // namespace titan::testing
