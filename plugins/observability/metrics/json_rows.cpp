#include "plugins/observability/json_rows.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace titan::observability {
namespace {

/// An object of plain names and numbers. fmt's default form of a double is the shortest that reads back equal, which
/// nlohmann-json does not promise.
class JsonLine {
 public:
  JsonLine& add(std::string_view name, std::int64_t value) { return add_text(name, fmt::format("{}", value)); }
  JsonLine& add(std::string_view name, double value) {
    return add_text(name, std::isfinite(value) ? fmt::format("{}", value) : std::string("null"));
  }
  JsonLine& add(std::string_view name, std::optional<double> value) {
    return value ? add(name, *value) : add_text(name, "null");
  }
  std::string text() const { return text_ + "}\n"; }

 private:
  JsonLine& add_text(std::string_view name, const std::string& value) {
    text_ += fmt::format("{}\"{}\": {}", text_.size() > 1 ? ", " : "", name, value);
    return *this;
  }

  std::string text_ = "{";
};

}  // namespace

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
      .text();
}

std::string json_line(const ValidationRow& row) {
  return JsonLine()
      .add("step", row.step)
      .add("loss", row.loss)
      .add("tokens", row.tokens)
      .add("tps", row.tps)
      .add("peak_memory_bytes", row.peak_memory_bytes)
      .text();
}

bool is_kept(std::string_view line, std::int64_t first_step) {
  const auto row = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!row.is_object()) return true;
  const auto step = row.find("step");
  return step == row.end() || !step->is_number_integer() || step->get<std::int64_t>() < first_step;
}

}  // namespace titan::observability
