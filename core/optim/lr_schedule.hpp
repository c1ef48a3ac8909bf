#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace titan::optim {

enum class DecayType { linear, sqrt, cosine };

/// Reads "linear", "sqrt" or "cosine". ConfigError names the option and the choices.
DecayType parse_decay_type(std::string_view text);

/// The lr_scheduler.* options, and the run's number of steps.
struct LrScheduleOptions {
  std::int64_t training_steps = 0;
  std::int64_t warmup_steps = 200;
  std::optional<std::int64_t> total_steps;  // None: training_steps
  std::optional<double> decay_ratio;        // share of all steps; None: all that follow the warm-up
  DecayType decay_type = DecayType::linear;
  double min_lr_factor = 0;
};

/// Warm-up, stable phase and decay: the factor on every learning rate, by step. Immutable; any thread may ask.
class LrSchedule {
 public:
  /// ConfigError for options no schedule can have. What was adjusted to fit stands in warnings().
  explicit LrSchedule(const LrScheduleOptions& options);

  /// Returns the factor of a step, counted from 0. From the schedule's end on it keeps its final value.
  double factor(std::int64_t step) const;

  /// Whether `step`, counted from 0, lies past the schedule's last step.
  bool is_past_end(std::int64_t step) const { return step >= total_steps_; }

  std::int64_t total_steps() const { return total_steps_; }
  std::int64_t warmup_steps() const { return warmup_steps_; }
  std::int64_t stable_steps() const { return stable_steps_; }
  std::int64_t decay_steps() const { return decay_steps_; }
  /// One text for each option that did not fit and was adjusted.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  double decayed(double progress) const;

  std::int64_t total_steps_ = 0;
  std::int64_t warmup_steps_ = 0;
  std::int64_t stable_steps_ = 0;
  std::int64_t decay_steps_ = 0;
  DecayType decay_type_ = DecayType::linear;
  double min_lr_factor_ = 0;
  std::vector<std::string> warnings_;
};

}  // namespace titan::optim
