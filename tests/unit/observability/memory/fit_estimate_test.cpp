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
  EXPECT_THAT(lines, Contains("  --debug.memory_limit_gib 0.0797"));
  EXPECT_THAT(lines, Contains("  --training.num_tokens_per_microbatch_per_dp_rank 128 (now 512)"));
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

TEST(FitLines, WhereAlmostAllWasThereLittleMoreIsWanted) {
  FitFacts facts = in_forward(100);
  facts.phase = TITAN_IN_BACKWARD;
  facts.share = 1;
  facts.rest = 60 * kMiB;
  facts.live = 99 * kMiB;
  facts.asked = 2 * kMiB;
  facts.parameters = 4 * kMiB;
  EXPECT_THAT(fit_lines(facts), Contains("  --debug.memory_limit_gib 0.101")) << "the limit alone was not enough";
  EXPECT_THAT(fit_lines(facts), Not(Contains(HasSubstr("0.12"))));
}

TEST(FitLines, WhatDoesNotShrinkWithTheTokensIsNoneOfThem) {
  FitFacts facts = in_forward(42);
  facts.phase = TITAN_IN_BACKWARD;
  facts.rest = 1 * kMiB;
  facts.asked = 3 * kMiB;
  EXPECT_THAT(fit_lines(facts), Not(Contains(HasSubstr("tokens"))));
  facts.asked = 1 * kMiB;
  EXPECT_THAT(fit_lines(facts), Contains(HasSubstr("--training.num_tokens_per_microbatch_per_dp_rank")));
}

TEST(FitLines, WithoutALimitAMachineIsWanted) {
  FitFacts facts = in_forward(60);
  facts.has_limit = false;
  EXPECT_THAT(fit_lines(facts), Contains(HasSubstr("a machine that gives this rank 81.6 MiB")));
}

TEST(FitLines, OutsideOfAPassActivationsAreNotKnown) {
  FitFacts facts = in_forward(20);
  facts.phase = TITAN_IN_INIT;
  const auto lines = fit_lines(facts);
  EXPECT_THAT(lines[0], HasSubstr("need about 40.0 MiB, the activations of a step come on top"));
  EXPECT_THAT(lines, Contains("  --debug.memory_limit_gib 0.0399, or more for activations"));
  EXPECT_THAT(lines, Contains(HasSubstr("2 ranks (now 1)")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("tokens"))));
}

}  // namespace
}  // namespace titan::observability
