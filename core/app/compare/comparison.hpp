#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/app/compare/run_table.hpp"

namespace titan::app {

/// A column to compare and how far its values may be apart, relative to the larger one. 0: equal to the last bit.
struct Criterion {
  std::string column;
  double tolerance = 0;
};

/// Two values of one column and step.
struct ComparedValue {
  double a = 0;
  double b = 0;
  double relative = 0;  // |a - b| / max(|a|, |b|); NaN unless both are numbers
  bool agrees = true;   // a value that is no finite number agrees with nothing, not even with another one
};

/// One step of either run.
struct ComparedStep {
  std::int64_t step = 0;
  bool in_a = true;
  bool in_b = true;
  std::vector<ComparedValue> values;  // by criterion; none where a run lacks the step

  bool agrees() const;
};

/// Which steps count.
struct StepRange {
  std::optional<std::int64_t> last;  // steps after it are left out
  bool common_only = false;          // a step that one run lacks is no difference
};

/// Two runs, step by step.
struct Comparison {
  struct Largest {
    double relative = 0;
    std::int64_t step = 0;
  };

  std::vector<Criterion> criteria;
  std::vector<ComparedStep> steps;
  std::vector<Largest> largest;                // by criterion, over the steps where both have numbers
  std::optional<std::size_t> first_differing;  // index in steps
  std::size_t num_common = 0;
  std::size_t num_differing = 0;

  bool agrees() const { return !first_differing; }
};

/// Compares two tables whose columns are the criteria's, in their order. DataError when they have no step in common, or
/// neither reaches the last step asked for.
Comparison compare(const RunTable& a, const RunTable& b, const std::vector<Criterion>& criteria,
                   const StepRange& range);

}  // namespace titan::app
