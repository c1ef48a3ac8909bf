#include "plugins/observability/metrics/console_line.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string_view>

#include "plugins/observability/grouped.hpp"

namespace titan::observability {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

/// Torchtitan's order of colours, from the sixteen that the host's log lets through. All empty without colour.
struct Palette {
  std::string_view red, green, yellow, blue, magenta, cyan, orange, turquoise, reset;
};
constexpr Palette kColors{"\033[31m", "\033[32m", "\033[33m", "\033[34m", "\033[35m",
                          "\033[36m", "\033[91m", "\033[96m", "\033[39m"};
constexpr Palette kPlain{};

std::string memory(std::int64_t bytes, std::int64_t capacity) {
  const double used = static_cast<double>(bytes);
  const std::string share =
      capacity > 0 ? fmt::format("{:.2f}%", 100 * used / static_cast<double>(capacity)) : std::string("n/a");
  return fmt::format("{:5.2f}GiB({})", used / kGiB, share);
}

std::string rate(double per_second) { return grouped(fmt::format("{:.0f}", per_second)); }

/// What makes a NaN gives it a sign, which means nothing.
double unsigned_nan(double value) { return std::isnan(value) ? std::abs(value) : value; }

std::string text(titan_string string) { return {string.data == nullptr ? "" : string.data, string.size}; }

}  // namespace

std::string step_line(const MetricsRow& row, const RunFacts& facts, bool color) {
  const Palette& c = color ? kColors : kPlain;
  return fmt::format(
      "{}step: {:2}  {}loss: {:7.5f}  {}grad_norm: {:7.4f}  {}memory: {}  {}tps: {}  {}tflops: {}  {}mfu: {}{}", c.red,
      row.step, c.green, unsigned_nan(row.loss), c.orange, unsigned_nan(row.grad_norm), c.turquoise,
      memory(row.peak_memory_bytes, facts.memory_capacity), c.blue, rate(row.tps), c.cyan,
      grouped(fmt::format("{:.2f}", row.tflops)), c.magenta,
      row.mfu ? fmt::format("{:.2f}%", *row.mfu) : std::string("n/a"), c.reset);
}

std::string validation_line(const ValidationRow& row, const RunFacts& facts, bool color) {
  const Palette& c = color ? kColors : kPlain;
  return fmt::format("{}validate step: {:2}  {}loss: {:7.5f}  {}memory: {}  {}tps: {}{}", c.yellow, row.step, c.green,
                     unsigned_nan(row.loss), c.turquoise, memory(row.peak_memory_bytes, facts.memory_capacity), c.blue,
                     rate(row.tps), c.reset);
}

std::string facts_line(const titan_run_event& event) {
  const std::string capacity = event.memory_capacity > 0
                                   ? fmt::format("{:.2f}GiB", static_cast<double>(event.memory_capacity) / kGiB)
                                   : std::string("of unknown size");
  const std::string peak = event.peak_flops > 0 ? fmt::format("{:.1f} TFLOP/s", event.peak_flops / 1e12)
                                                : std::string("unknown, so mfu is n/a");
  return fmt::format("metrics: {:.3g} GFLOP per token forward and backward, device memory {}, device peak {}",
                     event.num_flops_per_token / 1e9, capacity, peak);
}

std::string files_line(const titan_run_event& event) { return fmt::format("metrics: in {}", text(event.dump_folder)); }

}  // namespace titan::observability
