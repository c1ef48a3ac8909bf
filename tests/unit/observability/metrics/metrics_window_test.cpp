#include "plugins/observability/metrics/metrics_window.hpp"

#include <gtest/gtest.h>

namespace titan::observability {
namespace {

titan_step_event step_event(std::int64_t step, double seconds, std::int64_t num_tokens) {
  titan_step_event event{};
  event.struct_size = sizeof event;
  event.step = step;
  event.step_seconds = seconds;
  event.num_tokens = num_tokens;
  return event;
}

TEST(MetricsWindow, LogsFirstEveryNthAndLastStep) {
  std::string logged;
  for (std::int64_t step = 1; step <= 12; ++step) {
    titan_step_event event = step_event(step, 1, 1);
    event.is_last = step == 12;
    if (is_logged(event, 5)) logged += std::to_string(step) + ' ';
  }
  EXPECT_EQ(logged, "1 5 10 12 ");
}

TEST(MetricsWindow, RatesCoverAllStepsOfTheWindow) {
  MetricsWindow window({.num_flops_per_token = 2e9, .peak_flops = 1e12, .memory_capacity = 0, .ranks_per_batch = 1});
  window.add(step_event(1, 2.0, 100));
  const titan_step_event second = step_event(2, 3.0, 400);
  window.add(second);
  const MetricsRow row = window.close(second);
  EXPECT_DOUBLE_EQ(row.tps, 100);  // 500 tokens in 5 seconds
  EXPECT_DOUBLE_EQ(row.tflops, 0.2);
  ASSERT_TRUE(row.mfu);
  EXPECT_DOUBLE_EQ(*row.mfu, 20);
}

TEST(MetricsWindow, RanksThatShareABatchShareItsTokens) {
  MetricsWindow window({.num_flops_per_token = 2e9, .peak_flops = 1e12, .memory_capacity = 0, .ranks_per_batch = 4});
  const titan_step_event step = step_event(1, 2.0, 400);
  window.add(step);
  const MetricsRow row = window.close(step);
  EXPECT_DOUBLE_EQ(row.tps, 50);
  EXPECT_DOUBLE_EQ(row.tflops, 0.1);
  EXPECT_DOUBLE_EQ(*row.mfu, 10);
}

TEST(MetricsWindow, DataShareAndPeakMemoryCoverTheWindow) {
  MetricsWindow window({});
  titan_step_event event = step_event(1, 4.0, 1);
  event.data_seconds = 1.0;
  event.peak_memory = 70;
  window.add(event);
  event.data_seconds = 3.0;
  event.peak_memory = 50;
  window.add(event);
  const MetricsRow row = window.close(event);
  EXPECT_DOUBLE_EQ(row.data_time_share, 0.5);
  EXPECT_EQ(row.peak_memory_bytes, 70);
}

TEST(MetricsWindow, ClosingBeginsTheNextWindow) {
  MetricsWindow window({});
  titan_step_event event = step_event(1, 1.0, 1000);
  event.peak_memory = 99;
  window.add(event);
  window.close(event);
  event = step_event(2, 2.0, 10);
  event.peak_memory = 7;
  window.add(event);
  const MetricsRow row = window.close(event);
  EXPECT_DOUBLE_EQ(row.tps, 5);
  EXPECT_EQ(row.peak_memory_bytes, 7);
}

TEST(MetricsWindow, RowHasTheStepsOwnValues) {
  MetricsWindow window({});
  titan_step_event event = step_event(7, 1.0, 10);
  event.loss = 4.5;
  event.grad_norm = 1.25;
  event.lr = 8e-4;
  event.total_tokens = 70;
  event.elapsed_seconds = 9.5;
  window.add(event);
  const MetricsRow row = window.close(event);
  EXPECT_EQ(row.step, 7);
  EXPECT_EQ(row.loss, 4.5);
  EXPECT_EQ(row.grad_norm, 1.25);
  EXPECT_EQ(row.lr, 8e-4);
  EXPECT_EQ(row.tokens, 70);
  EXPECT_EQ(row.elapsed_s, 9.5);
}

TEST(MetricsWindow, UnknownPeakHasNoMfu) {
  MetricsWindow window({.num_flops_per_token = 1e9, .peak_flops = 0, .memory_capacity = 0});
  const titan_step_event event = step_event(1, 1.0, 1000);
  window.add(event);
  EXPECT_FALSE(window.close(event).mfu);
}

TEST(MetricsWindow, StandingClockGivesZeroRates) {
  MetricsWindow window({});
  const titan_step_event event = step_event(1, 0.0, 1000);
  window.add(event);
  const MetricsRow row = window.close(event);
  EXPECT_EQ(row.tps, 0);
  EXPECT_EQ(row.data_time_share, 0);
}

TEST(MetricsWindow, ValidationRateIsOfThePass) {
  titan_validation_event event{};
  event.struct_size = sizeof event;
  event.step = 20;
  event.loss = 3.5;
  event.num_tokens = 600;
  event.seconds = 1.5;
  event.peak_memory = 11;
  const ValidationRow row = validation_row(event, /*num_devices=*/2);
  EXPECT_EQ(row.step, 20);
  EXPECT_EQ(row.loss, 3.5);
  EXPECT_EQ(row.tokens, 600);
  EXPECT_DOUBLE_EQ(row.tps, 200);
  EXPECT_EQ(row.peak_memory_bytes, 11);
}

}  // namespace
}  // namespace titan::observability
