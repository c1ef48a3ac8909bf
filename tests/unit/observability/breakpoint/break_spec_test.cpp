#include "plugins/observability/breakpoint/break_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/thrown_text.hpp"
#include "titan/sdk/error.hpp"

namespace titan::observability {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using titan::testing::error_text;

std::vector<BreakSpec> parse(std::string_view text) { return parse_break_at(text, 4, 100); }
std::string refusal(std::string_view text) {
  return error_text<sdk::ConfigError>([&] { parse(text); });
}

TEST(BreakSpec, AllKeys) {
  const auto specs = parse("rank=1,step=3,module=layers.2.attention,phase=backward");
  ASSERT_EQ(specs.size(), 1U);
  EXPECT_EQ(specs[0].rank, 1U);
  EXPECT_EQ(specs[0].step, 3);
  EXPECT_EQ(specs[0].module, "layers.2.attention");
  EXPECT_TRUE(specs[0].in_backward);
  EXPECT_EQ(specs[0].text(), "rank=1,step=3,module=layers.2.attention,phase=backward");
}

TEST(BreakSpec, WhatIsLeftOutIsRankZeroTheFirstTimeWhereAStepBegins) {
  const BreakSpec spec = parse("module=layers.2").front();
  EXPECT_EQ(spec.rank, 0U);
  EXPECT_FALSE(spec.step.has_value());
  EXPECT_FALSE(spec.in_backward);
  EXPECT_EQ(parse("step=5").front().module, "");
  EXPECT_EQ(parse("step=5").front().text(), "rank=0,step=5");
}

TEST(BreakSpec, SeveralPlacesAndBlanks) {
  const auto specs = parse(" rank = 1 , step=3 ;  step=5,module=norm,phase=forward");
  ASSERT_EQ(specs.size(), 2U);
  EXPECT_EQ(specs[0].text(), "rank=1,step=3");
  EXPECT_EQ(specs[1].text(), "rank=0,step=5,module=norm");
}

TEST(BreakSpec, RefusalsNameWhatIsWrongAndTheForm) {
  const auto says = [](const char* what) { return AllOf(HasSubstr(what), HasSubstr("rank=1,step=3,module=layers.2")); };
  EXPECT_THAT(refusal(""), says("expected KEY=VALUE"));
  EXPECT_THAT(refusal("rank=1;"), says("expected KEY=VALUE"));
  EXPECT_THAT(refusal("layers.2"), says("got \"layers.2\""));
  EXPECT_THAT(refusal("modul=layers.2"), says("unknown key \"modul\", allowed: rank, step, module, phase"));
  EXPECT_THAT(refusal("rank=4"), says("there is no rank 4: the run has 4 (0 to 3)"));
  EXPECT_THAT(refusal("rank=-1"), says("rank must be a whole number of at least 0, got \"-1\""));
  EXPECT_THAT(refusal("rank=one"), says("got \"one\""));
  EXPECT_THAT(refusal("rank=99999999999999999999"), says("rank must be a whole number"));
  EXPECT_THAT(refusal("step=0"), says("step must be a whole number of at least 1"));
  EXPECT_THAT(refusal("step=3x"), says("got \"3x\""));
  EXPECT_THAT(refusal("step=101"), says("step 101 never comes: training.steps is 100"));
  EXPECT_THAT(refusal("step=1,step=2"), says("step is there twice"));
  EXPECT_THAT(refusal("module="), says("module needs a name"));
  EXPECT_THAT(refusal("module=norm,phase=optimizer"), says("phase is forward or backward"));
  EXPECT_THAT(refusal("phase=forward"), says("phase needs a module"));
}

}  // namespace
}  // namespace titan::observability
