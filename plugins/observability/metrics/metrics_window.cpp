#include "plugins/observability/metrics/metrics_window.hpp"

#include <algorithm>

namespace titan::observability {
namespace {

/// 0 where the clock did not move.
double rate(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

}  // namespace

bool is_logged(const titan_step_event& event, std::int64_t log_freq) {
  return event.step == 1 || event.is_last != 0 || event.step % log_freq == 0;
}

void MetricsWindow::add(const titan_step_event& event) {
  num_tokens_ += event.num_tokens;
  seconds_ += event.step_seconds;
  data_seconds_ += event.data_seconds;
  peak_memory_ = std::max(peak_memory_, event.peak_memory);
}

MetricsRow MetricsWindow::close(const titan_step_event& event) {
  MetricsRow row;
  row.step = event.step;
  row.loss = event.loss;
  row.grad_norm = event.grad_norm;
  row.lr = event.lr;
  row.tokens = event.total_tokens;
  row.tps = rate(static_cast<double>(num_tokens_), seconds_) / static_cast<double>(facts_.ranks_per_batch);
  const double flops = facts_.num_flops_per_token * row.tps;
  row.tflops = flops / 1e12;
  if (facts_.peak_flops > 0) row.mfu = 100 * flops / facts_.peak_flops;
  row.peak_memory_bytes = peak_memory_;
  row.data_time_share = rate(data_seconds_, seconds_);
  row.elapsed_s = event.elapsed_seconds;
  *this = MetricsWindow(facts_);
  return row;
}

ValidationRow validation_row(const titan_validation_event& event, std::uint32_t num_devices) {
  ValidationRow row;
  row.step = event.step;
  row.loss = event.loss;
  row.tokens = event.num_tokens;
  row.tps = rate(static_cast<double>(event.num_tokens), event.seconds) / num_devices;
  row.peak_memory_bytes = event.peak_memory;
  return row;
}

}  // namespace titan::observability
