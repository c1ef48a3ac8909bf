#include "plugins/observability/memory/fit_estimate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "titan/abi/place.h"

namespace titan::observability {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

/// 10 MiB of weights, and half of the activations of a step.
FitFacts in_forward(std::uint64_t allowed_mib) {
  FitFacts facts;
  facts.parameters = 10 * kMiB;
  facts.rest = 15 * kMiB;
  facts.asked = 1280 * 1024;
  facts.allowed = allowed_mib * kMiB;
  facts.has_limit = true;
  facts.phase = TITAN_IN_FORWARD;
  facts.step = 1;
  facts.share = 0.5;
  facts.num_blocks = 8;
  facts.tokens = 512;
  facts.row = 128;
  return facts;
}

TEST(FitLines, WeighStateAndActivations) {
  const auto lines = fit_lines(in_forward(60));
  EXPECT_THAT(lines[0],
              HasSubstr("parameters, gradients and optimizer state of this rank need about 40.0 MiB, the activations "
                        "of a step about 40.0 MiB more (estimates)"));
  EXPECT_THAT(lines, Contains("  --debug.memory_limit_gib 0.079"));
  EXPECT_THAT(lines, Contains("  --training.num_tokens_per_microbatch_per_dp_rank 256 (now 512)"));
  EXPECT_THAT(lines, Contains(HasSubstr("--activation_checkpoint.mode full")));
  EXPECT_THAT(lines, Contains(HasSubstr("2 ranks (now 1)")));
}

TEST(FitLines, RowsGetShorterWhereNoWholeOneFits) {
  FitFacts facts = in_forward(43);
  facts.row = 512;
  EXPECT_THAT(fit_lines(facts), Contains("  --training.num_tokens_per_microbatch_per_dp_rank 32 "
                                         "--training.max_context_length 32 (now 512 and 512)"));
}

TEST(FitLines, NameOnlyWhatWouldDo) {
  const auto lines = fit_lines(in_forward(30));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("tokens"))));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("activation_checkpoint"))));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("ranks (now"))));
  FitFacts facts = in_forward(60);
  facts.recomputes_all = true;
  EXPECT_THAT(fit_lines(facts), Not(Contains(HasSubstr("activation_checkpoint"))));
}

TEST(FitLines, WithoutALimitAMachineIsWanted) {
  FitFacts facts = in_forward(60);
  facts.has_limit = false;
  EXPECT_THAT(fit_lines(facts), Contains(HasSubstr("a machine that gives this rank 80.0 MiB")));
}

TEST(FitLines, OutsideOfAPassActivationsAreNotKnown) {
  FitFacts facts = in_forward(20);
  facts.phase = TITAN_IN_INIT;
  const auto lines = fit_lines(facts);
  EXPECT_THAT(lines[0], HasSubstr("need about 40.0 MiB, the activations of a step come on top"));
  EXPECT_THAT(lines, Contains("  --debug.memory_limit_gib 0.04, or more for activations"));
  EXPECT_THAT(lines, Contains(HasSubstr("2 ranks (now 1)")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("tokens"))));
}

}  // namespace
}  // namespace titan::observability
