#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/optim/lr_schedule.hpp"
#include "tests/support/vectors.hpp"

namespace titan::optim {
namespace {

using nlohmann::json;

constexpr const char* kFile = "lr_schedules.json";
constexpr double kTolerance = 1e-12;

template <class Value>
std::optional<Value> optional(const json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<Value>());
}

LrScheduleOptions options(const json& test) {
  const json& config = test.at("config");
  LrScheduleOptions read;
  read.training_steps = test.at("training_steps");
  read.warmup_steps = config.at("warmup_steps");
  read.total_steps = optional<std::int64_t>(config.at("total_steps"));
  read.decay_ratio = optional<double>(config.at("decay_ratio"));
  read.decay_type = parse_decay_type(config.at("decay_type").get<std::string>());
  read.min_lr_factor = config.at("min_lr_factor");
  return read;
}

// Superseded reference values: from the step after total_steps on, the reference falls below its floor, rises again or
// fails ("error_at"). This schedule keeps the value of step total_steps instead, which the reference agrees with.
void check_factors(const json& test, const LrSchedule& schedule) {
  const auto reference = test.at("factors").get<std::vector<double>>();
  const std::int64_t end = schedule.total_steps();
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const auto step = static_cast<std::int64_t>(i);
    if (step <= end) {
      EXPECT_NEAR(schedule.factor(step), reference[i], kTolerance) << "step " << step;
    } else {
      EXPECT_EQ(schedule.factor(step), schedule.factor(end)) << "step " << step;
    }
  }
  const double floor = schedule.decay_steps() > 0 ? options(test).min_lr_factor : 1.0;
  EXPECT_NEAR(schedule.factor(end), floor, kTolerance);
}

TEST(LrScheduleVectors, EveryCase) {
  TITAN_REQUIRE_VECTORS(kFile);
  std::ifstream file(testing::vectors_dir() / kFile);
  const json vectors = json::parse(file);
  ASSERT_FALSE(vectors.at("cases").empty());
  for (const json& test : vectors.at("cases")) {
    SCOPED_TRACE(test.at("name").get<std::string>());
    const LrSchedule schedule(options(test));
    const json& effective = test.at("effective");
    EXPECT_EQ(schedule.warmup_steps(), effective.at("warmup_steps").get<std::int64_t>());
    EXPECT_EQ(schedule.stable_steps(), effective.at("stable_steps").get<std::int64_t>());
    EXPECT_EQ(schedule.decay_steps(), effective.at("decay_steps").get<std::int64_t>());
    EXPECT_EQ(schedule.warnings().size(), test.at("warnings").size());
    check_factors(test, schedule);
  }
}

}  // namespace
}  // namespace titan::optim
