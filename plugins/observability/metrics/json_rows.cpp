#include "plugins/observability/metrics/json_rows.hpp"

#include "plugins/observability/json_line.hpp"

namespace titan::observability {

std::string json_line(const MetricsRow& row) {
  return JsonLine()
      .add("step", row.step)
      .add("loss", row.loss)
      .add("grad_norm", row.grad_norm)
      .add("lr", row.lr)
      .add("tokens", row.tokens)
      .add("tps", row.tps)
      .add("tflops", row.tflops)
      .add("mfu", row.mfu)
      .add("peak_memory_bytes", row.peak_memory_bytes)
      .add("data_time_share", row.data_time_share)
      .add("elapsed_s", row.elapsed_s)
      .line();
}

std::string json_line(const ValidationRow& row) {
  return JsonLine()
      .add("step", row.step)
      .add("loss", row.loss)
      .add("tokens", row.tokens)
      .add("tps", row.tps)
      .add("peak_memory_bytes", row.peak_memory_bytes)
      .line();
}

}  // namespace titan::observability
