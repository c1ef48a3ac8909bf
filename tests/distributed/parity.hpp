#pragma once

#include <cstdint>
#include <string>

#include "tests/distributed/rank_runs.hpp"

namespace titan::testing {

/// Every layout of the parity tests trains on the same rows. 48 of them divide by every number of ranks and
/// micro-batches of the tests.
inline constexpr std::int64_t kParityRows = 48, kParityLength = 8;
inline constexpr config::Degrees kOneRank{1, 1, 1, 1, 1};

/// How far a layout may be from one rank: gradients of the first step and weights after the last as the largest
/// relative difference of a tensor; loss and gradient norm of every step relative.
struct Tolerance {
  const char* dtype;
  double gradients, figures, weights;
};
inline constexpr Tolerance kDouble{"float64", 1e-9, 1e-6, 1e-9};
inline constexpr Tolerance kSingle{"float32", 1e-5, 1e-6, 1e-4};  // AdamW amplifies rounding

/// Five steps of `preset` in one dtype, each over kParityRows rows, cut into that many micro-batches on each data rank.
RankRuns parity_run(const config::Degrees& degrees, const Tolerance& tolerance, std::int64_t num_micro_batches,
                    const std::string& preset = "llama3_parity");

/// What one rank does in such a run. Each is run once a program.
const RankOutcome& one_rank(const Tolerance& tolerance, const std::string& preset = "llama3_parity");

double relative_difference(double value, double expected);

/// Expects equal initial weights, and the rest within the tolerance.
void expect_parity(const RankOutcome& outcome, const RankOutcome& expected, const Tolerance& tolerance);

}  // namespace titan::testing
