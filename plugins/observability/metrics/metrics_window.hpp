#pragma once

#include <cstdint>
#include <optional>

#include "titan/abi/observer.h"

namespace titan::observability {

/// What does not change during a run.
struct RunFacts {
  double num_flops_per_token = 0;    // forward and backward
  double peak_flops = 0;             // of one device, per second; 0: unknown
  std::int64_t memory_capacity = 0;  // bytes; 0: unknown
  std::int64_t ranks_per_batch = 1;  // that work on the same tokens: tp x cp x pp
};

/// One logged step. Rates and shares are over the window: the steps since the previous logged one.
struct MetricsRow {
  std::int64_t step = 0;
  double loss = 0;                     // of this step
  double grad_norm = 0;                // of this step, before clipping
  double lr = 0;                       // this step's, first parameter group
  std::int64_t tokens = 0;             // of the whole run so far, all ranks
  double tps = 0;                      // tokens per second and device, padding included
  double tflops = 0;                   // model TFLOPs per second and device
  std::optional<double> mfu;           // percent of the device's peak; empty: peak unknown
  std::int64_t peak_memory_bytes = 0;  // highest of the window
  double data_time_share = 0;          // part of the window's time spent waiting for data, 0 to 1
  double elapsed_s = 0;                // since the run began
};

/// One validation pass.
struct ValidationRow {
  std::int64_t step = 0;
  double loss = 0;
  std::int64_t tokens = 0;  // valid tokens of the pass, all ranks
  double tps = 0;           // valid tokens per second of the pass and device
  std::int64_t peak_memory_bytes = 0;
};

/// True for the first step, every `log_freq`-th and the last.
bool is_logged(const titan_step_event& event, std::int64_t log_freq);

/// Gathers step events between two logged steps and turns them into a row. One thread.
class MetricsWindow {
 public:
  explicit MetricsWindow(const RunFacts& facts) : facts_(facts) {}

  void add(const titan_step_event& event);
  /// The row of the newest event; the next window begins.
  MetricsRow close(const titan_step_event& event);

 private:
  RunFacts facts_;
  std::int64_t num_tokens_ = 0;
  double seconds_ = 0;
  double data_seconds_ = 0;
  std::int64_t peak_memory_ = 0;
};

/// The row of a pass in which `num_devices` took part.
ValidationRow validation_row(const titan_validation_event& event, std::uint32_t num_devices);

}  // namespace titan::observability
