#include "plugins/observability/numerics/locator.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "plugins/observability/numerics/state_scan.hpp"

namespace titan::observability {
namespace {

constexpr const char* kTag = "numerics";
constexpr const char* kAlwaysOption = "debug.detect_anomaly";
constexpr const char* kPolicyOption = "debug.on_non_finite";

// Among what is found before a step: what is broken comes before what is large, which may be without blame.
constexpr std::int64_t kIsLarge = 1;

const std::vector<std::int32_t> kKept{TITAN_STATE_OPTIMIZER, TITAN_STATE_PARAMETER, TITAN_STATE_BUFFER};

std::string number(double value) {
  std::array<char, 40> text{};
  return {text.data(), static_cast<std::size_t>(std::snprintf(text.data(), text.size(), "%.6g", std::abs(value)))};
}

/// "loss nan, gradient norm nan"
std::string numbers_of(const titan_outcome& outcome) {
  return sdk::concat("loss ", number(outcome.loss), ", gradient norm ", number(outcome.grad_norm));
}

/// Who else found it, of the ranks of one agreement.
std::string others(const AgreedSighting& agreed) {
  std::string text;
  if (!agreed.same_place.empty()) text += sdk::concat("; at the same place on ", list_ranks(agreed.same_place));
  if (!agreed.later.empty()) text += sdk::concat("; later on ", list_ranks(agreed.later));
  return text;
}

}  // namespace

void NonFiniteLocator::describe(sdk::Describe& declare) {
  declare.options({
      {kAlwaysOption, false,
       "Look at what goes into and out of every module in every step, forward and backward, and stop at the first "
       "number that is not finite, or that stands out of its tensor as after a flipped bit; slow. Without it a step is "
       "looked at when its "
       "loss or gradient norm is not finite.",
       sdk::must_match},
      {kPolicyOption, "stop",
       "What to do with a step whose loss or gradient norm is not finite, once its cause is told: stop, before the "
       "update; skip, leave the update out and go on.",
       sdk::one_of({"stop", "skip"}), sdk::must_match},
  });
}

NonFiniteLocator::NonFiniteLocator(sdk::Host host)
    : host_(host),
      always_(host.config().boolean(kAlwaysOption)),
      skips_(host.config().string(kPolicyOption) == "skip") {}

std::uint32_t NonFiniteLocator::duties() const {
  const std::uint32_t always = always_ ? TITAN_DUTY_STEP | TITAN_DUTY_JUDGE : 0;
  return TITAN_DUTY_ATTACH | TITAN_DUTY_RERUN | always;
}

void NonFiniteLocator::attach(const sdk::GuardHandles& handles) {
  handles_ = handles;
  watch_.emplace(handles);
}

void NonFiniteLocator::step_begin(std::int64_t /*step*/) {
  kept_ = describe_state_trouble(*handles_, kKept);
  watch_->start();
}

Judgement NonFiniteLocator::judge(const titan_outcome& outcome) {
  const std::string numbers = numbers_of(outcome);
  kept_large_.clear();
  if (outcome.is_finite == 0) {
    kept_ = describe_state_trouble(*handles_, kKept);
    if (kept_.empty()) kept_large_ = describe_large_state(*handles_, kKept);
  }
  if (!always_) {
    watch_->start();
    host_.check(outcome.rerun(&outcome));
  }
  watch_->stop();
  return reported(outcome, numbers, found(outcome));
}

Sighting NonFiniteLocator::found(const titan_outcome& outcome) {
  if (!kept_.empty()) return {{ComputationPlace::before_the_step}, sdk::concat("before the step: ", kept_)};
  if (outcome.is_finite != 0 && !always_) return watch_->first();
  if (!kept_large_.empty()) {
    return {{.kind = ComputationPlace::before_the_step, .number = kIsLarge},
            sdk::concat("before the step: ", kept_large_)};
  }
  const Sighting mine = watch_->origin(outcome.is_finite != 0);
  if (!mine.text.empty() || outcome.is_finite != 0) return mine;
  const std::string gradients = describe_state_trouble(*handles_, {TITAN_STATE_GRADIENT});
  if (gradients.empty()) return mine;
  return {{ComputationPlace::after_reduction},
          sdk::concat("in no module, but among the gradients that ranks have summed: ", gradients)};
}

Judgement NonFiniteLocator::reported(const titan_outcome& outcome, const std::string& numbers,
                                     const Sighting& mine) const {
  const strategy::Mesh mesh(sdk::MeshHandle{host_, handles_->mesh});
  const AgreedSighting agreed = agree(mesh.group("world"), mine);
  const bool is_found = agreed.place.kind != ComputationPlace::nowhere;
  if (!is_found && outcome.is_finite != 0) return always_ ? Judgement{} : not_reproduced(numbers, outcome);
  // A weight that is not finite makes every step to come so.
  const bool is_broken = agreed.place.kind == ComputationPlace::before_the_step && agreed.place.number != kIsLarge;
  const bool skips = skips_ && !is_broken;
  Judgement judgement{skips ? TITAN_DECISION_SKIP : TITAN_DECISION_STOP, TITAN_ERROR_NON_FINITE, {}};
  if (host_.rank() != agreed.rank) return judgement;
  if (!mine.details.empty()) tell(outcome.step, mine, skips ? TITAN_LOG_WARNING : TITAN_LOG_ERROR);
  judgement.text = is_found ? sdk::concat(numbers, ", and where it comes from was found ", mine.text, others(agreed))
                            : sdk::concat(numbers,
                                          ", but nothing that is not finite was found in modules, weights and "
                                          "gradients");
  return judgement;
}

void NonFiniteLocator::tell(std::int64_t step, const Sighting& mine, std::int32_t level) const {
  host_.log(level, kTag, sdk::concat("step ", step, ", rank ", host_.rank(), ": found ", mine.text));
  for (const std::string& line : mine.details) host_.log(level, kTag, sdk::concat("  ", line));
}

Judgement NonFiniteLocator::not_reproduced(const std::string& first, const titan_outcome& outcome) const {
  Judgement judgement{skips_ ? TITAN_DECISION_SKIP : TITAN_DECISION_STOP, TITAN_ERROR_NON_FINITE, {}};
  if (host_.rank() != 0) return judgement;
  judgement.text = sdk::concat(first, ", but a second run of the same step gave ", numbers_of(outcome),
                               ": the first cannot be reproduced: suspect the hardware of a rank, or a race");
  return judgement;
}

}  // namespace titan::observability
