#include "plugins/observability/numerics/sdc_replay.hpp"

#include <ATen/ops/full.h>

#include <algorithm>

#include "plugins/observability/numerics/operator_trace.hpp"
#include "titan/torch/group.hpp"

namespace titan::observability {
namespace {

constexpr const char* kTag = "sdc_replay";
constexpr const char* kEnabledOption = "sdc_replay.enabled";
constexpr const char* kStepsOption = "sdc_replay.num_steps";
constexpr const char* kReplaysOption = "sdc_replay.num_replays";
constexpr std::size_t kMostNamed = 20;

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
    text += sdk::concat(i == 0 ? "" : ", ", names[i]);
  return names.size() > kMostNamed ? sdk::concat(text, " and ", names.size() - kMostNamed, " more") : text;
}

}  // namespace

void SdcReplay::describe(sdk::Describe& declare) {
  declare.options({
      {kEnabledOption, false,
       "Look for silent data corruption: run a step's first forward and backward again and compare loss, gradients, "
       "buffers and random state of every rank bit by bit before the update. Needs debug.deterministic.",
       sdk::must_match},
      {kStepsOption, 1, "Steps to do so in: 1, the first after a start or load; -1, every step.", sdk::at_least(-1),
       sdk::at_most(1), sdk::must_match},
      {kReplaysOption, 1, "How often the first forward and backward is run again.", sdk::at_least(1), sdk::must_match},
  });
}

ToolPointer SdcReplay::make(sdk::Host host) {
  const sdk::Config config = host.config();
  const std::int64_t num_steps = config.integer(kStepsOption);
  if (num_steps == 0) throw sdk::ConfigError("[sdc_replay] ", kStepsOption, " must be 1 or -1: ", num_steps);
  if (!config.boolean(kEnabledOption)) {
    const bool is_asked = num_steps != 1 || config.integer(kReplaysOption) != 1;
    if (is_asked && host.rank() == 0) {
      host.warning(kTag,
                   sdk::concat(kStepsOption, " and ", kReplaysOption, " have no effect without ", kEnabledOption));
    }
    return nullptr;
  }
  if (!config.boolean("debug.deterministic") || config.boolean("debug.deterministic_warn_only")) {
    throw sdk::ConfigError("[sdc_replay] ", kEnabledOption,
                           " needs debug.deterministic, without debug.deterministic_warn_only: runs that may differ "
                           "cannot be compared");
  }
  return std::make_unique<SdcReplay>(host);
}

SdcReplay::SdcReplay(sdk::Host host)
    : host_(host),
      num_steps_(host.config().integer(kStepsOption)),
      num_replays_(host.config().integer(kReplaysOption)) {}

bool SdcReplay::is_due(const titan_pass& pass) {
  if (pass.index != 0) return false;
  difference_.clear();
  return ++steps_begun_ == 1 || num_steps_ == -1;
}

Signature SdcReplay::run(const titan_pass& pass) const {
  double loss_sum = 0;
  host_.check(pass.run(&pass, &loss_sum));
  return sign(*handles_, loss_sum);
}

void SdcReplay::around(const titan_pass& pass) {
  if (!is_due(pass)) {
    double loss_sum = 0;
    return host_.check(pass.run(&pass, &loss_sum));
  }
  const Signature first = run(pass);
  for (std::int64_t i = 0; i < num_replays_; ++i) {
    host_.check(pass.rewind(&pass));
    compare(first, run(pass), i + 2);
  }
  if (any_differs()) {
    const std::string why = cause(pass);
    if (!difference_.empty()) difference_ += why;
  } else if (steps_begun_ == 1) {
    host_.info(kTag,
               sdk::concat("step ", pass.step, ": ", num_replays_ + 1, " runs of the first pass left the same bits in ",
                           first.entries.size(), " values of this rank"));
  }
}

void SdcReplay::compare(const Signature& first, const Signature& other, std::int64_t number) {
  const std::vector<std::string> names = differences(first, other);
  if (names.empty()) return;
  difference_ += sdk::concat(difference_.empty() ? "" : "; ", "run ", number, " of ", num_replays_ + 1,
                             " differs from the first in ", names.size(), " of ", first.entries.size(),
                             " values: ", listed(names));
}

bool SdcReplay::any_differs() const {
  const strategy::Mesh mesh(sdk::MeshHandle{host_, handles_->mesh});
  const at::Tensor flag = at::full({1}, difference_.empty() ? 0.0 : 1.0, at::kFloat);
  mesh.group("world").all_reduce(flag, strategy::Reduce::max).wait();
  return flag.item<float>() > 0;
}

std::string SdcReplay::cause(const titan_pass& pass) const {
  std::vector<TracedOperator> traces[2];
  for (auto& trace : traces) {
    host_.check(pass.rewind(&pass));
    OperatorTrace tracing(*handles_);
    double loss_sum = 0;
    host_.check(pass.run(&pass, &loss_sum));
    trace = tracing.take();
  }
  const auto* tree = host_.require<titan_tree_v1>(TITAN_TREE_V1);
  const std::string found = first_difference(traces[0], traces[1], [&](titan_module module) {
    return std::string(sdk::view(tree->module_name(handles_->tree, module)));
  });
  return found.empty() ? "; two more runs agree in every operator: suspect this rank's hardware, or a race"
                       : sdk::concat("; two more runs differ too, first here: ", found);
}

Judgement SdcReplay::judge(const titan_outcome& outcome) {
  if (difference_.empty()) return {};
  return {TITAN_DECISION_STOP, TITAN_ERROR_INTERNAL,
          sdk::concat("[sdc_replay] the first forward and backward of step ", outcome.step,
                      " does not repeat itself: ", difference_)};
}

}  // namespace titan::observability
