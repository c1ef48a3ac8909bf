#include "plugins/observability/metrics/console_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace titan::observability {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

MetricsRow row() {
  MetricsRow row;
  row.step = 3;
  row.loss = 7.6293949;
  row.grad_norm = 2.52134;
  row.tps = 1234567.6;
  row.tflops = 1012.345;
  row.mfu = 41.237;
  row.peak_memory_bytes = kGiB / 2;
  return row;
}

std::string without_escapes(std::string text) {
  for (std::size_t at = 0; (at = text.find('\033', at)) != std::string::npos;)
    text.erase(at, text.find('m', at) + 1 - at);
  return text;
}

TEST(ConsoleLine, ANaNHasNoSign) {
  MetricsRow broken = row();
  broken.loss = broken.grad_norm = -std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(step_line(broken, {}, false), testing::Not(testing::HasSubstr("-nan")));
}

TEST(ConsoleLine, StepLineHasTorchtitansForm) {
  EXPECT_EQ(step_line(row(), {.memory_capacity = 8 * kGiB}, false),
            "step:  3  loss: 7.62939  grad_norm:  2.5213  memory:  0.50GiB(6.25%)  tps: 1,234,568  tflops: 1,012.35  "
            "mfu: 41.24%");
}

TEST(ConsoleLine, UnknownPeakAndCapacityAreNamedSo) {
  MetricsRow unknown = row();
  unknown.mfu.reset();
  const std::string line = step_line(unknown, {}, false);
  EXPECT_THAT(line, testing::HasSubstr("mfu: n/a"));
  EXPECT_THAT(line, testing::HasSubstr("memory:  0.50GiB(n/a)"));
}

TEST(ConsoleLine, ColorsChangeNothingButTheEscapes) {
  const RunFacts facts{.memory_capacity = 8 * kGiB};
  const std::string colored = step_line(row(), facts, true);
  EXPECT_TRUE(colored.starts_with("\033[31mstep:"));
  EXPECT_TRUE(colored.ends_with("\033[39m"));
  EXPECT_EQ(without_escapes(colored), step_line(row(), facts, false));
}

TEST(ConsoleLine, ValidationLineHasTorchtitansForm) {
  const ValidationRow validation{.step = 10, .loss = 5.5, .tokens = 64, .tps = 999.4, .peak_memory_bytes = kGiB};
  const RunFacts facts{.memory_capacity = 4 * kGiB};
  EXPECT_EQ(validation_line(validation, facts, false),
            "validate step: 10  loss: 5.50000  memory:  1.00GiB(25.00%)  tps: 999");
  EXPECT_TRUE(validation_line(validation, facts, true).starts_with("\033[33mvalidate step:"));
}

TEST(ConsoleLine, NotFiniteValuesAreShown) {
  MetricsRow broken = row();
  broken.loss = std::numeric_limits<double>::quiet_NaN();
  broken.tps = std::numeric_limits<double>::infinity();
  const std::string line = step_line(broken, {}, false);
  EXPECT_THAT(line, testing::HasSubstr("nan"));
  EXPECT_THAT(line, testing::HasSubstr("tps: inf"));
}

TEST(ConsoleLine, DigitsStandInGroups) {
  const auto shown = [](double tps) {
    MetricsRow fast = row();
    fast.tps = tps;
    const std::string line = step_line(fast, {}, false);
    const std::size_t begin = line.find("tps: ") + 5;
    return line.substr(begin, line.find(' ', begin) - begin);
  };
  EXPECT_EQ(shown(0.4), "0");
  EXPECT_EQ(shown(999), "999");
  EXPECT_EQ(shown(999.6), "1,000");
  EXPECT_EQ(shown(123456), "123,456");
  EXPECT_EQ(shown(1234567), "1,234,567");
}

TEST(ConsoleLine, BeginLinesSayWhatTheNumbersStandOn) {
  titan_run_event event{};
  event.struct_size = sizeof event;
  event.dump_folder = {"./outputs", 9};
  event.num_flops_per_token = 4.6e7;
  event.memory_capacity = 16 * kGiB;
  EXPECT_EQ(facts_line(event),
            "metrics: 0.046 GFLOP per token forward and backward, device memory 16.00GiB, device peak unknown, so mfu "
            "is n/a");
  EXPECT_EQ(files_line(event), "metrics: in ./outputs");
  event.peak_flops = 9.89e14;
  event.memory_capacity = 0;
  EXPECT_EQ(facts_line(event),
            "metrics: 0.046 GFLOP per token forward and backward, device memory of unknown size, "
            "device peak 989.0 TFLOP/s");
}

}  // namespace
}  // namespace titan::observability
