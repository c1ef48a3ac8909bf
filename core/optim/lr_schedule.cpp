#include "core/optim/lr_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace titan::optim {
namespace {

void require(bool holds, std::string_view option, std::string_view range, double value) {
  if (!holds) throw ConfigError("[optim] ", option, " must be ", range, ": ", value);
}

void check(const LrScheduleOptions& options) {
  const auto total = options.total_steps.value_or(options.training_steps);
  require(total >= 1, options.total_steps ? "lr_scheduler.total_steps" : "training.steps", "at least 1",
          static_cast<double>(total));
  require(options.warmup_steps >= 0, "lr_scheduler.warmup_steps", "at least 0",
          static_cast<double>(options.warmup_steps));
  const double ratio = options.decay_ratio.value_or(0);
  require(ratio >= 0 && ratio <= 1, "lr_scheduler.decay_ratio", "between 0 and 1", ratio);
  require(options.min_lr_factor >= 0 && options.min_lr_factor <= 1, "lr_scheduler.min_lr_factor", "between 0 and 1",
          options.min_lr_factor);
}

}  // namespace

DecayType parse_decay_type(std::string_view text) {
  if (text == "linear") return DecayType::linear;
  if (text == "sqrt") return DecayType::sqrt;
  if (text == "cosine") return DecayType::cosine;
  throw ConfigError("[optim] lr_scheduler.decay_type must be linear, sqrt or cosine: ", printable(text));
}

LrSchedule::LrSchedule(const LrScheduleOptions& options)
    : total_steps_(options.total_steps.value_or(options.training_steps)),
      warmup_steps_(options.warmup_steps),
      decay_type_(options.decay_type),
      min_lr_factor_(options.min_lr_factor) {
  check(options);
  if (warmup_steps_ > total_steps_) {
    warnings_.push_back(concat("lr_scheduler.warmup_steps exceeds the schedule's steps and is cut: ", warmup_steps_,
                               " -> ", total_steps_));
    warmup_steps_ = total_steps_;
  }
  decay_steps_ = total_steps_ - warmup_steps_;
  if (options.decay_ratio) {
    // Rounds half to even, as the schedules that runs are compared with do.
    const auto wanted =
        static_cast<std::int64_t>(std::nearbyint(static_cast<double>(total_steps_) * *options.decay_ratio));
    if (wanted > decay_steps_) {
      warnings_.push_back(concat("warm-up and decay exceed the schedule's steps, the decay is cut: warm-up ",
                                 warmup_steps_, ", decay ", wanted, " -> ", decay_steps_, ", steps ", total_steps_));
    }
    decay_steps_ = std::min(wanted, decay_steps_);
  }
  // One more than remains, so that the last step's factor is above the floor.
  stable_steps_ = total_steps_ + 1 - warmup_steps_ - decay_steps_;
}

double LrSchedule::factor(std::int64_t step) const {
  if (step < warmup_steps_) return static_cast<double>(step + 1) / static_cast<double>(warmup_steps_);
  const auto into_decay = step + 1 - warmup_steps_ - stable_steps_;
  if (into_decay <= 0 || decay_steps_ == 0) return 1.0;
  return decayed(std::min(1.0, static_cast<double>(into_decay) / static_cast<double>(decay_steps_)));
}

double LrSchedule::decayed(double progress) const {
  double left = 1.0 - progress;
  if (decay_type_ == DecayType::sqrt) left = 1.0 - std::sqrt(progress);
  if (decay_type_ == DecayType::cosine) left = 0.5 * (1.0 + std::cos(std::numbers::pi * progress));
  return min_lr_factor_ + (1.0 - min_lr_factor_) * left;
}

}  // namespace titan::optim
