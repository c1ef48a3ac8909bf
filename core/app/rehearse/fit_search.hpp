#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/app/rehearse/fit_changes.hpp"

namespace titan::app {

/// What a rehearsal with some changes came to.
struct FitOutcome {
  std::string refused;  // why such a run cannot begin; empty: it was rehearsed
  std::int64_t peak_bytes = 0;
  std::optional<double> step_seconds;  // estimated
};

struct FitTrial {
  std::vector<FitChange> changes;
  FitOutcome outcome;
  bool fits = false;
};

/// A search for the nearest change that fits.
struct FitSearch {
  std::vector<FitTrial> trials;        // in order
  std::optional<std::size_t> chosen;   // index of the nearest one that fits
  std::optional<std::size_t> fastest;  // of the one that fits in the least time, where that is another
  bool is_cut = false;                 // it ended before its turn: time was out
  std::size_t most_trials = 0;         // it would have given up after so many
};

/// Rehearses a run with options changed.
using TryChanges = std::function<FitOutcome(const std::vector<FitChange>& changes)>;

/// Searches for what fits into `limit_bytes`, at the least cost: the fewest changes, of these the fewest options, then
/// the least estimated time of a step. First every change alone. Where none fits, several kinds of changes at once:
/// those are tried first that ought to fit and cost least when each change's share of memory and time multiplies; the
/// first that fits is taken. Nothing more is tried once has_time says so.
FitSearch search_fit(const FitOutcome& now, std::int64_t limit_bytes, const std::vector<FitChange>& changes,
                     const TryChanges& try_changes, const std::function<bool()>& has_time = nullptr);

}  // namespace titan::app
