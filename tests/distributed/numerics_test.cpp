// Faults in one module of one rank are found where they are: numbers that are not finite, and bits that flip.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/position.hpp"
#include "core/train/control.hpp"
#include "core/train/determinism.hpp"
#include "tests/distributed/parity.hpp"
#include "tests/distributed/rank_guards.hpp"
#include "tests/distributed/trained_ranks.hpp"

namespace titan::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kStep = 2;

std::mutex error_mutex;
std::string error_text;

/// The log's errors while it lives, a line each.
class LogOfErrors {
 public:
  LogOfErrors() {
    error_text = "\n";
    set_log_sink([](LogLevel level, std::string_view, std::string_view text) {
      const std::scoped_lock lock(error_mutex);
      if (level == LogLevel::error) error_text.append(text) += '\n';
    });
  }
  ~LogOfErrors() { set_log_sink(nullptr); }
  LogOfErrors(const LogOfErrors&) = delete;
  LogOfErrors& operator=(const LogOfErrors&) = delete;
  std::string text() const {
    const std::scoped_lock lock(error_mutex);
    return error_text;
  }
};

std::int64_t step_now() { return current_position()->step.load(); }

/// The tensor with another value at its first element.
at::Tensor with_first(const at::Tensor& tensor, double value) {
  at::Tensor changed = tensor.clone();
  const at::NoGradGuard no_grad;
  changed.detach().view({-1})[0].fill_(value);
  return changed;
}

/// Changes the first output of a module in a step: its first element is another value.
nn::Around spoils_output(double value) {
  return [value](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    nn::Tensors out = next(frame, in);
    if (step_now() == kStep && frame.phase() != nn::Phase::evaluation) out[0] = with_first(out[0], value);
    return out;
  };
}

/// The same of the first call alone, with the operators of all others.
nn::Around spoils_output_once() {
  return [times = std::make_shared<std::atomic<int>>(0)](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    nn::Tensors out = next(frame, in);
    out[0] = out[0].clone();
    const at::NoGradGuard no_grad;
    if (step_now() == kStep && (*times)++ == 0) out[0].detach().view({-1})[0].fill_(NAN);
    return out;
  };
}

/// Changes the gradient that comes to a module's first output in a step.
nn::Around spoils_gradient(double value) {
  return [value](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    nn::Tensors out = next(frame, in);
    if (step_now() != kStep || !out[0].requires_grad()) return out;
    out[0] = out[0].view_as(out[0]);
    out[0].register_hook([value](const at::Tensor& gradient) { return with_first(gradient, value); });
    return out;
  };
}

nn::ModuleId module_of(const nn::Tree& tree, const std::string& name) {
  for (nn::ModuleId module = 0; module < tree.num_modules(); ++module) {
    if (tree.name(module) == name) return module;
  }
  throw std::runtime_error("no such module: " + name);
}

/// Attaches to one module of one rank, as if the module did it.
RankGuards attached(const std::string& module, std::int64_t rank, nn::Around around) {
  return RankGuards([=](FunctionGuard& guard, std::int64_t mine) {
    if (mine != rank) return;
    guard.attach = [=](train::Control&, nn::Tree& tree) {
      tree.attach(module_of(tree, module), std::numeric_limits<std::int32_t>::max(), around);
    };
  });
}

void flip_bit(const at::Tensor& tensor, std::int64_t element, int bit) {
  auto* values = static_cast<std::uint32_t*>(tensor.data_ptr());
  values[element] ^= 1U << bit;
}

/// Changes something that a rank keeps, before a step.
RankGuards changes(std::int32_t kind, const std::string& name, std::int64_t rank,
                   std::function<void(const at::Tensor&)> change) {
  return RankGuards([=](FunctionGuard& guard, std::int64_t mine) {
    if (mine != rank) return;
    auto control = std::make_shared<train::Control*>(nullptr);
    guard.attach = [control](train::Control& made, nn::Tree&) { *control = &made; };
    guard.step_begin = [=](std::int64_t step) {
      if (step != kStep) return;
      (*control)->visit_state([&](std::int32_t its_kind, const std::string& its_name, const at::Tensor& tensor) {
        if (its_kind == kind && its_name == name) change(tensor.detach());
      });
    };
  });
}

/// Flips a bit of the largest number of it.
RankGuards flips(std::int32_t kind, const std::string& name, std::int64_t rank, int bit) {
  return changes(kind, name, rank,
                 [bit](const at::Tensor& tensor) { flip_bit(tensor, tensor.argmax().item<std::int64_t>(), bit); });
}

struct Layout {
  std::string name;
  config::Degrees degrees;  // pp, dp_replicate, dp_shard, cp, tp
  std::int64_t rank;        // that is spoilt
  std::string mode = "none";
};

std::vector<Layout> layouts() {
  return {{"one", kOneRank, 0},          {"one_recomputed", kOneRank, 0, "full"},
          {"fsdp2", {1, 1, 2, 1, 1}, 1}, {"tp2", {1, 1, 1, 1, 2}, 1, "selective"},
          {"pp2", {2, 1, 1, 1, 1}, 1},   {"ddp2", {1, 2, 1, 1, 1}, 1, "full"}};
}

RankRuns run_of(const Layout& layout, const Settings& settings = {}) {
  const std::int64_t group = layout.degrees[0];
  RankRuns runs = parity_run(layout.degrees, kSingle, group);
  runs.steps = 4;
  return with(with(std::move(runs), {{"training.steps", "4"},
                                     {"parallelism.num_pp_microbatches", std::to_string(group)},
                                     {"activation_checkpoint.mode", layout.mode}}),
              settings);
}

template <class Failure>
std::string failure_of(const RankRuns& runs) {
  try {
    train_ranks(runs);
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "none";
}

std::string rank_text(const Layout& layout) {
  return num_ranks(run_of(layout)) == 1 ? "step 2: " : "step 2: rank " + std::to_string(layout.rank) + ": ";
}

// A pipeline of two: the second rank has it.
constexpr const char* kModule = "layers.5.feed_forward.w2";

class Locator : public ::testing::TestWithParam<Layout> {};

TEST_P(Locator, FindsWhatIsNotFiniteInForward) {
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    RankGuards saboteurs = attached(kModule, GetParam().rank, spoils_output(value));
    const LogOfErrors log;
    const std::string text = failure_of<NonFiniteError>(saboteurs.in(run_of(GetParam())));
    EXPECT_THAT(log.text(), AllOf(HasSubstr("\n  input 0 within ["), HasSubstr("\n  weight within ["),
                                  HasSubstr("\n  before it came ")));
    EXPECT_THAT(text, AllOf(HasSubstr("weights are unchanged"), HasSubstr(rank_text(GetParam())),
                            HasSubstr(std::string("in forward of ") + kModule + ","), HasSubstr("output 0 (float32"),
                            HasSubstr(std::isnan(value) ? "NaN at [0, 0, 0]" : "inf at [0, 0, 0]")));
  }
}

TEST_P(Locator, FindsWhatIsNotFiniteInBackward) {
  RankGuards saboteurs = attached(kModule, GetParam().rank, spoils_gradient(std::nan("")));
  EXPECT_THAT(failure_of<NonFiniteError>(saboteurs.in(run_of(GetParam()))),
              AllOf(HasSubstr(rank_text(GetParam())), HasSubstr(std::string("in backward of ") + kModule + ","),
                    HasSubstr("gradient of"), HasSubstr("NaN")));
}

TEST_P(Locator, FindsAFlippedBitInForward) {
  const nn::Around flip = [](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    nn::Tensors out = next(frame, in);
    if (step_now() != kStep) return out;
    out[0] = out[0].clone();
    flip_bit(out[0].detach(), 5, 30);
    return out;
  };
  // Norms turn it into a finite loss: nothing stops without being asked to look.
  RankGuards saboteurs = attached(kModule, GetParam().rank, flip);
  EXPECT_THAT(failure_of<NonFiniteError>(saboteurs.in(run_of(GetParam(), {{"debug.detect_anomaly", "true"}}))),
              AllOf(HasSubstr(rank_text(GetParam())), HasSubstr(std::string("in forward of ") + kModule + ","),
                    HasSubstr("output 0"), HasSubstr("a very large value"), HasSubstr("at [0, 0, 5]")));
}

TEST_P(Locator, FindsAFlippedBitInTheOptimizersState) {
  // A bit of the exponent, and the sign of a mean of squares. Nothing of it need come to numbers that are not finite.
  const std::string name = std::string(kModule) + ".weight";
  RankGuards exponent = flips(TITAN_STATE_OPTIMIZER, name + ".exp_avg", GetParam().rank, 30);
  RankGuards sign = flips(TITAN_STATE_OPTIMIZER, name + ".exp_avg_sq", GetParam().rank, 31);
  const RankRuns runs = run_of(GetParam(), {{"debug.detect_anomaly", "true"}});
  EXPECT_THAT(failure_of<NonFiniteError>(exponent.in(runs)),
              AllOf(HasSubstr(rank_text(GetParam())), HasSubstr("before the step: " + name + ".exp_avg (float32"),
                    HasSubstr("a very large value")));
  EXPECT_THAT(failure_of<NonFiniteError>(sign.in(runs)),
              AllOf(HasSubstr(rank_text(GetParam())), HasSubstr("before the step: " + name + ".exp_avg_sq (float32"),
                    HasSubstr("negative values")));
}

TEST_P(Locator, FindsANaNInTheOptimizersState) {
  const std::string name = std::string(kModule) + ".weight.exp_avg";
  RankGuards saboteurs = changes(TITAN_STATE_OPTIMIZER, name, GetParam().rank,
                                 [](const at::Tensor& tensor) { tensor.view({-1})[5].fill_(NAN); });
  EXPECT_THAT(failure_of<NonFiniteError>(saboteurs.in(run_of(GetParam()))),
              AllOf(HasSubstr("step 3: "), HasSubstr("before the step: " + name + " (float32"), HasSubstr("NaN at ["),
                    HasSubstr("others like it: " + std::string(kModule) + ".weight")));
}

TEST_P(Locator, LooksInEveryStepWhereItIsAskedTo) {
  // Once: a second run would not see it.
  RankGuards saboteurs = attached(kModule, GetParam().rank, spoils_output_once());
  EXPECT_THAT(failure_of<NonFiniteError>(saboteurs.in(run_of(GetParam(), {{"debug.detect_anomaly", "true"}}))),
              AllOf(HasSubstr(rank_text(GetParam())), HasSubstr(std::string("in forward of ") + kModule + ",")));
}

TEST_P(Locator, SaysThatAStepCannotBeReproduced) {
  RankGuards saboteurs = attached(kModule, GetParam().rank, spoils_output_once());
  EXPECT_THAT(failure_of<NonFiniteError>(saboteurs.in(run_of(GetParam()))),
              AllOf(HasSubstr("loss nan"), HasSubstr("a second run of the same step gave loss 8."),
                    HasSubstr("cannot be reproduced")));
}

TEST_P(Locator, LeavesTheStepOutWhereItMayGoOn) {
  RankGuards saboteurs = attached(kModule, GetParam().rank, spoils_output(std::nan("")));
  const Trained trained = train_ranks(saboteurs.in(run_of(GetParam(), {{"debug.on_non_finite", "skip"}})));
  ASSERT_EQ(trained.steps.size(), 4u);
  EXPECT_TRUE(std::isnan(trained.steps.at(kStep).loss));
  for (const std::int64_t step : {1, 3, 4}) EXPECT_TRUE(std::isfinite(trained.steps.at(step).loss));
  for (const auto& [name, tensor] : trained.state) EXPECT_TRUE(at::isfinite(tensor).all().item<bool>()) << name;
}

std::string name_of(const ::testing::TestParamInfo<Layout>& layout) { return layout.param.name; }

INSTANTIATE_TEST_SUITE_P(Covering, Locator, ::testing::ValuesIn(layouts()), name_of);

TEST(LocatorOfOneRank, StopsAtAWeightThatIsNotFiniteWhateverThePolicy) {
  RankGuards saboteurs([](FunctionGuard& guard, std::int64_t) {
    auto kept = std::make_shared<nn::Tree*>(nullptr);
    guard.attach = [kept](train::Control&, nn::Tree& tree) { *kept = &tree; };
    guard.step_begin = [kept](std::int64_t step) {
      if (step == 3) (*kept)->find_parameter("layers.0.attention.wq.weight")->storage.detach()[2][3].fill_(NAN);
    };
  });
  EXPECT_THAT(failure_of<NonFiniteError>(saboteurs.in(run_of({"one", kOneRank, 0}, {{"debug.on_non_finite", "skip"}}))),
              AllOf(HasSubstr("step 3"), HasSubstr("before the step: layers.0.attention.wq.weight (float32"),
                    HasSubstr("NaN at [2, 3], 1 NaN of")));
}

TEST(LocatorOfOneRank, LeavesFiniteStepsAlone) {
  const RankRuns plain = run_of({"one", kOneRank, 0, "selective"});
  const Trained watched = train_ranks(with(plain, {{"debug.detect_anomaly", "true"}}));
  EXPECT_TRUE(bit_equal(watched.state, train_ranks(plain).state));
}

// Moments are large for a while after a spike whose gradients were not clipped.
TEST(LocatorOfOneRank, LeavesAFiniteStepAloneHoweverLargeItsMoments) {
  const RankRuns runs = run_of({"one", kOneRank, 0}, {{"debug.detect_anomaly", "true"}});
  RankGuards spike = changes(TITAN_STATE_OPTIMIZER, std::string(kModule) + ".weight.exp_avg_sq", 0,
                             [](const at::Tensor& tensor) { tensor.fill_(1e30); });
  EXPECT_EQ(failure_of<Error>(spike.in(runs)), "none");
}

// Masks hold -inf.
TEST(LocatorOfOneRank, StopsAtANaNOfABufferAndLeavesInfiniteOnesAlone) {
  Layout layout{"one", kOneRank, 0};
  RankRuns runs = run_of(layout, {{"debug.detect_anomaly", "true"}});
  runs.preset = "qwen3_parity_moe";
  for (const double value : {-static_cast<double>(INFINITY), std::nan("")}) {
    RankGuards saboteurs = changes(TITAN_STATE_BUFFER, "layers.1.moe.expert_bias", 0,
                                   [value](const at::Tensor& tensor) { tensor[0].fill_(value); });
    EXPECT_THAT(
        failure_of<Error>(saboteurs.in(runs)),
        std::isnan(value) ? HasSubstr("before the step: layers.1.moe.expert_bias (float32 [") : HasSubstr("none"));
  }
}

/// libtorch's setting is the process's.
class Replay : public ::testing::TestWithParam<Layout> {
 protected:
  static RankRuns replayed(const Settings& more = {}) {
    RankRuns runs = run_of(GetParam(), {{"debug.deterministic", "true"}, {"sdc_replay.enabled", "true"}});
    return with(std::move(runs), more);
  }
  train::DeterministicScope deterministic_{true, false};
};

TEST_P(Replay, LeavesTheRunAsItIs) {
  const Trained plain = train_ranks(run_of(GetParam(), {{"debug.deterministic", "true"}}));
  const Trained checked = train_ranks(replayed({{"sdc_replay.num_steps", "-1"}, {"sdc_replay.num_replays", "2"}}));
  EXPECT_TRUE(bit_equal(plain.state, checked.state));
  for (const auto& [step, figures] : plain.steps) EXPECT_EQ(figures.loss, checked.steps.at(step).loss);
}

TEST_P(Replay, FindsABitThatFlipsOnceInAGradient) {
  auto times = std::make_shared<std::atomic<int>>(0);
  const nn::Around once = [times](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    nn::Tensors out = next(frame, in);
    if (step_now() != 1 || !out[0].requires_grad()) return out;
    out[0] = out[0].view_as(out[0]);
    out[0].register_hook([times](const at::Tensor& gradient) {
      if ((*times)++ != 0) return gradient;
      at::Tensor changed = gradient.clone();
      flip_bit(changed, 5, 12);
      return changed;
    });
    return out;
  };
  RankGuards saboteurs = attached(kModule, GetParam().rank, once);
  const std::string text = failure_of<Error>(saboteurs.in(replayed()));
  EXPECT_THAT(text, AllOf(HasSubstr("step 1"), HasSubstr("weights are unchanged"), HasSubstr("run 2 of 2 differs"),
                          HasSubstr("gradient of " + std::string(kModule) + ".weight"),
                          HasSubstr("two more runs agree in every operator")));
  if (num_ranks(replayed()) > 1) {
    EXPECT_THAT(text, HasSubstr("rank " + std::to_string(GetParam().rank) + ": "));
  }
}

TEST_P(Replay, NamesAnOperatorThatIsNotAFunction) {
  // Draws from a generator that nobody sets back.
  auto generator = std::make_shared<at::Generator>(at::detail::createCPUGenerator(3));
  const nn::Around impure = [generator](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
    nn::Tensors out = next(frame, in);
    if (frame.phase() != nn::Phase::evaluation) {
      out[0] = out[0] + at::rand(out[0].sizes(), *generator, out[0].options().requires_grad(false)) * 1e-3;
    }
    return out;
  };
  // A recomputation that draws other numbers has other gradients, whoever replays it.
  RankGuards saboteurs = attached(kModule, GetParam().rank, impure);
  EXPECT_THAT(failure_of<Error>(saboteurs.in(replayed())),
              AllOf(HasSubstr("gave other values for the same inputs"), HasSubstr("uniform_"),
                    HasSubstr(std::string("forward of ") + kModule)));
}

INSTANTIATE_TEST_SUITE_P(Covering, Replay, ::testing::ValuesIn(layouts()), name_of);

TEST(SdcReplayOptions, AreRefusedWhereTheyCannotBeKept) {
  const RankRuns runs = run_of({"one", kOneRank, 0}, {{"sdc_replay.enabled", "true"}});
  EXPECT_THAT(failure_of<ConfigError>(runs), HasSubstr("sdc_replay.enabled needs debug.deterministic"));
  const Settings warns{{"debug.deterministic", "true"}, {"debug.deterministic_warn_only", "true"}};
  EXPECT_THAT(failure_of<ConfigError>(with(runs, warns)), HasSubstr("without debug.deterministic_warn_only"));
  const Settings zero{{"debug.deterministic", "true"}, {"sdc_replay.num_steps", "0"}};
  EXPECT_THAT(failure_of<ConfigError>(with(runs, zero)), HasSubstr("sdc_replay.num_steps must be 1 or -1"));
}

TEST(DriftCheck, FindsOneBitOfOneReplicaWithinItsPeriod) {
  const Layout layout{"hsdp2x2", {1, 2, 2, 1, 1}, 3};
  const std::string name = std::string(kModule) + ".weight";
  RankGuards saboteurs = flips(TITAN_STATE_PARAMETER, name, layout.rank, 0);
  EXPECT_THAT(failure_of<InternalError>(
                  saboteurs.in(run_of(layout, {{"debug.drift_check_freq", "3"}, {"debug.replica_audit_freq", "0"}}))),
              AllOf(HasSubstr("drifted apart: step 3"), HasSubstr(name), HasSubstr("rank 1 | rank 3")));
}

TEST(DriftCheck, FindsNothingInASoundRun) {
  const Layout layout{"hsdp2x2", {1, 2, 2, 1, 1}, 0};
  EXPECT_EQ(failure_of<Error>(run_of(layout, {{"debug.drift_check_freq", "1"}})), "none");
}

}  // namespace
}  // namespace titan::testing
