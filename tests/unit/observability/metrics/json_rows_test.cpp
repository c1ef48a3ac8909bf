#include "plugins/observability/metrics/json_rows.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

namespace titan::observability {
namespace {

/// The text between `"name": ` and the next comma or brace.
std::string field(const std::string& line, const std::string& name) {
  const std::size_t begin = line.find('"' + name + "\": ");
  if (begin == std::string::npos) return "absent";
  const std::size_t value = begin + name.size() + 4;
  return line.substr(value, line.find_first_of(",}", value) - value);
}

TEST(JsonRows, MetricsRowHasEveryFieldOnOneLine) {
  MetricsRow row;
  row.step = 2;
  row.loss = 7.5;
  row.grad_norm = 0.1;
  row.lr = 8e-4;
  row.tokens = 32768;
  row.tps = 100;
  row.tflops = 0.25;
  row.mfu = 12.5;
  row.peak_memory_bytes = 5000000000;
  row.data_time_share = 0.5;
  row.elapsed_s = 1.5;
  EXPECT_EQ(json_line(row),
            "{\"step\": 2, \"loss\": 7.5, \"grad_norm\": 0.1, \"lr\": 0.0008, \"tokens\": 32768, \"tps\": 100, "
            "\"tflops\": 0.25, \"mfu\": 12.5, \"peak_memory_bytes\": 5000000000, \"data_time_share\": 0.5, "
            "\"elapsed_s\": 1.5}\n");
}

TEST(JsonRows, ValidationRowHasEveryField) {
  const ValidationRow row{.step = 10, .loss = 5.25, .tokens = 64, .tps = 32.5, .peak_memory_bytes = 7};
  EXPECT_EQ(json_line(row),
            "{\"step\": 10, \"loss\": 5.25, \"tokens\": 64, \"tps\": 32.5, \"peak_memory_bytes\": 7}\n");
}

TEST(JsonRows, NumbersReadBackEqual) {
  MetricsRow row;
  for (const double value : {0.1, 1.0 / 3.0, 7.629394531250001, 1e-300, 1.7976931348623157e308, 5e-324, -0.0}) {
    row.loss = value;
    EXPECT_EQ(std::strtod(field(json_line(row), "loss").c_str(), nullptr), value);
  }
  row.loss = static_cast<double>(0.1F);
  EXPECT_EQ(field(json_line(row), "loss"), "0.10000000149011612");
}

TEST(JsonRows, WhatIsNotANumberIsNull) {
  MetricsRow row;
  row.loss = std::numeric_limits<double>::quiet_NaN();
  row.grad_norm = std::numeric_limits<double>::infinity();
  EXPECT_EQ(field(json_line(row), "loss"), "null");
  EXPECT_EQ(field(json_line(row), "grad_norm"), "null");
  EXPECT_EQ(field(json_line(row), "mfu"), "null");
}

}  // namespace
}  // namespace titan::observability
