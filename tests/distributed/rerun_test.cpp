// Steps that run twice, passes that are rewound, and updates that are left out, in every kind of layout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "tests/distributed/parity.hpp"
#include "tests/distributed/rank_guards.hpp"
#include "tests/distributed/trained_ranks.hpp"

namespace titan::testing {
namespace {

struct Layout {
  std::string name;
  config::Degrees degrees;  // pp, dp_replicate, dp_shard, cp, tp
  std::int64_t expert_degree = 1;
  std::string mode = "none";  // of activation checkpointing
  std::int64_t accumulation = 1;
  std::string preset = "llama3_parity";
  std::string dtype = "float32";
};

std::vector<Layout> layouts() {
  return {{"one", kOneRank, 1, "none", 2},
          {"one_moe_full", kOneRank, 1, "full", 2, "qwen3_parity_moe"},
          {"ddp2", {1, 2, 1, 1, 1}, 1, "selective", 2},
          {"fsdp2", {1, 1, 2, 1, 1}, 1, "none", 2},
          {"fsdp2_full_bf16", {1, 1, 2, 1, 1}, 1, "full", 1, "llama3_parity", "bfloat16"},
          {"hsdp2x2", {1, 2, 2, 1, 1}, 1, "selective", 1},
          {"tp2", {1, 1, 1, 1, 2}, 1, "selective", 1},
          {"cp2", {1, 1, 1, 2, 1}, 1, "none", 1},
          {"pp2", {2, 1, 1, 1, 1}, 1, "none", 2},
          {"pp2_fsdp2", {2, 1, 2, 1, 1}, 1, "full", 1},
          {"ep2", {1, 1, 2, 1, 1}, 2, "selective", 2, "qwen3_parity_moe"}};
}

RankRuns run_of(const Layout& layout) {
  const std::int64_t group = layout.degrees[0];
  RankRuns runs = parity_run(layout.degrees, kSingle, group * layout.accumulation, layout.preset);
  runs.steps = 3;
  runs.expert_degree = layout.expert_degree;
  return with(std::move(runs), {{"training.steps", "3"},
                                {"parallelism.num_pp_microbatches", std::to_string(group)},
                                {"training.mixed_precision_param", layout.dtype},
                                {"activation_checkpoint.mode", layout.mode}});
}

void expect_same(const Trained& a, const Trained& b) {
  EXPECT_TRUE(bit_equal(a.state, b.state));
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (const auto& [step, figures] : a.steps) {
    EXPECT_EQ(figures.loss, b.steps.at(step).loss) << step;
    EXPECT_EQ(figures.grad_norm, b.steps.at(step).grad_norm) << step;
  }
  for (std::size_t rank = 0; rank < a.random.size(); ++rank) EXPECT_TRUE(a.random[rank].equal(b.random[rank]));
}

class EveryLayout : public ::testing::TestWithParam<Layout> {};

TEST_P(EveryLayout, ASecondRunOfAStepChangesNothing) {
  RankGuards guards([](FunctionGuard& guard, std::int64_t) {
    guard.judge = [](const titan_outcome& outcome, titan_judgement&) {
      const double loss = outcome.loss, norm = outcome.grad_norm;
      require(outcome.rerun(&outcome));
      if (outcome.loss != loss || outcome.grad_norm != norm) throw InternalError("the second run gave other numbers");
    };
  });
  expect_same(train_ranks(guards.in(run_of(GetParam()))), train_ranks(run_of(GetParam())));
}

TEST_P(EveryLayout, ARewoundPassChangesNothing) {
  RankGuards guards([](FunctionGuard& guard, std::int64_t) {
    guard.around = [](const titan_pass& pass) {
      double first = 0, second = 0;
      require(pass.run(&pass, &first));
      if (pass.index > 0) return;
      require(pass.rewind(&pass));
      require(pass.run(&pass, &second));
      if (first != second) throw InternalError("the second run gave another loss");
    };
  });
  expect_same(train_ranks(guards.in(run_of(GetParam()))), train_ranks(run_of(GetParam())));
}

TEST_P(EveryLayout, AnUpdateThatIsLeftOutLeavesTheWeights) {
  // Of three steps the last two are left out: the weights are those after one.
  RankGuards guards([](FunctionGuard& guard, std::int64_t rank) {
    guard.judge = [rank](const titan_outcome& outcome, titan_judgement& out) {
      // One rank is enough.
      if (outcome.step > 1 && rank == 0) out.decision = TITAN_DECISION_SKIP;
    };
  });
  const Trained left_out = train_ranks(guards.in(run_of(GetParam())));
  EXPECT_EQ(left_out.steps.size(), 3u) << "they count";
  const RankRuns one_step = with(run_of(GetParam()), {{"training.steps", "1"}, {"lr_scheduler.total_steps", "3"}});
  EXPECT_TRUE(bit_equal(left_out.state, train_ranks(one_step).state));
}

INSTANTIATE_TEST_SUITE_P(Covering, EveryLayout, ::testing::ValuesIn(layouts()),
                         [](const auto& layout) { return layout.param.name; });

}  // namespace
}  // namespace titan::testing
