#include <gmock/gmock.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "core/base/text.hpp"
#include "core/train/rehearsal/rehearse.hpp"
#include "tests/distributed/parity.hpp"
#include "tests/distributed/rank_plugins.hpp"

namespace titan::testing {
namespace {

std::string text_of(const std::vector<std::int64_t>& sizes) {
  std::vector<std::string> texts;
  for (const std::int64_t size : sizes) texts.push_back(concat(size));
  return concat('[', join(texts, ","), ']');
}

std::string text_of(const RehearsedCall& call) {
  return concat(call.op, ' ', call.group, ' ', call.channel, " in ", call.module, ' ', call.dtype,
                text_of(call.input_sizes), "->", text_of(call.output_sizes), ' ', call.input_bytes, ' ',
                call.output_bytes, " peer ", call.peer);
}

/// What the rank started in its step, in order.
std::vector<std::string> calls_of_step(const RehearsedRank& rank) {
  std::vector<std::string> texts;
  for (std::size_t i = rank.first_of_step; i < rank.events.size(); ++i) {
    if (rank.events[i].waits < 0) texts.push_back(text_of(rank.calls[rank.events[i].call]));
  }
  return texts;
}

std::vector<std::string> calls_of_step(const std::vector<comm::WorkRecord>& records) {
  std::vector<std::string> texts;
  for (const comm::WorkRecord& record : records) {
    if (record.members.size() == 1) continue;  // nothing goes anywhere
    RehearsedCall call{record.op,          record.group,        record.channel,     record.module,       {},
                       record.input_sizes, record.output_sizes, record.input_bytes, record.output_bytes, record.peer};
    if (record.dtype != at::ScalarType::Undefined) call.dtype = c10::toString(record.dtype);
    texts.push_back(text_of(call));
  }
  return texts;
}

RehearsalReport rehearse(const config::Config& config, const RankRuns& runs, bool all_ranks) {
  RehearsalRequest request;
  request.mesh = config::Mesh(runs.degrees, num_ranks(runs), runs.expert_degree);
  request.all_ranks = all_ranks;
  request.make_rank = [&](std::int64_t rank) {
    const auto plugins = std::make_shared<RankPlugins>(config, rank, num_ranks(runs));
    return LayoutRank{plugins->run(), plugins};
  };
  return train::rehearse(request);
}

struct Layout {
  const char* name;
  config::Degrees degrees;  // pp, dp_replicate, dp_shard, cp, tp
  std::int64_t num_micro_batches = 1;
  Settings settings = {};
  std::int64_t expert_degree = 0;  // of a mixture of experts, whose tokens go to all of them in turn; 0: another model
};
std::ostream& operator<<(std::ostream& out, const Layout& layout) { return out << layout.name; }

class RehearsedLayout : public ::testing::TestWithParam<Layout> {
 protected:
  RankRuns runs() const {
    const bool is_mixture = GetParam().expert_degree > 0;
    RankRuns runs = parity_run(GetParam().degrees, kSingle, GetParam().num_micro_batches,
                               is_mixture ? "qwen3_parity_moe" : "llama3_parity");
    runs.steps = 1;
    if (is_mixture) {
      runs.expert_degree = GetParam().expert_degree;
      runs.settings.push_back({"model.debug_force_load_balance", "true"});
    }
    for (const auto& setting : GetParam().settings) runs.settings.push_back(setting);
    return runs;
  }
};

TEST_P(RehearsedLayout, CallsWhatTheRealRunCalls) {
  const RankRuns real = runs();
  const config::Config config = configuration(real);
  const RehearsalReport report = rehearse(config, real, true);
  const RankOutcome outcome = run_ranks(real);
  ASSERT_EQ(report.ranks.size(), outcome.records.size());
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    EXPECT_EQ(calls_of_step(report.ranks[rank]), calls_of_step(outcome.records[rank][0])) << "rank " << rank;
  }
}

// What stands for a rank does what that rank does, up to where the two stand.
TEST_P(RehearsedLayout, RanksDoWhatStandsForThemDoes) {
  const RankRuns layout = runs();
  const config::Config config = configuration(layout);
  const RehearsalReport every = rehearse(config, layout, true), few = rehearse(config, layout, false);
  std::size_t represented = 0;
  for (const RehearsedRank& rank : few.ranks) {
    for (const std::int64_t other : rank.stands_for) {
      const RehearsedRank& same = every.ranks[static_cast<std::size_t>(other)];
      EXPECT_EQ(same.peak_bytes, rank.peak_bytes) << rank.rank << " for " << other;
      EXPECT_EQ(same.peak_kinds, rank.peak_kinds) << rank.rank << " for " << other;
      EXPECT_EQ(same.flops, rank.flops) << rank.rank << " for " << other;
      EXPECT_EQ(same.num_parameters, rank.num_parameters) << rank.rank << " for " << other;
      ASSERT_EQ(same.events.size(), rank.events.size()) << rank.rank << " for " << other;
      ++represented;
    }
  }
  EXPECT_EQ(represented, every.ranks.size());
}

// Recomputation repeats the forward of the blocks; a selective one leaves out what was kept.
TEST(RehearsedWork, IsWhatIsComputedAgain) {
  const auto flops = [](const char* mode) {
    RankRuns runs = parity_run({1, 1, 1, 1, 1}, kSingle, 1);
    runs.settings.push_back({"activation_checkpoint.mode", mode});
    const config::Config config = configuration(runs);
    return rehearse(config, runs, false).ranks.at(0).flops;
  };
  const double none = flops("none"), selective = flops("selective"), full = flops("full");
  EXPECT_LT(none, selective);
  EXPECT_LT(selective, full);
  EXPECT_LT(full, none * 4 / 3);
  EXPECT_GT(full, none * 1.2);
}

INSTANTIATE_TEST_SUITE_P(
    Parity, RehearsedLayout,
    ::testing::Values(Layout{"one", {1, 1, 1, 1, 1}}, Layout{"ddp2", {1, 2, 1, 1, 1}}, Layout{"fsdp2", {1, 1, 2, 1, 1}},
                      Layout{"fsdp3", {1, 1, 3, 1, 1}}, Layout{"hsdp2x2", {1, 2, 2, 1, 1}, 2},
                      Layout{"cp2", {1, 1, 1, 2, 1}, 1, {{"model.attn_mask_type", "causal"}}},
                      Layout{"tp2", {1, 1, 1, 1, 2}}, Layout{"fsdp2_tp2", {1, 1, 2, 1, 2}, 2},
                      Layout{"pp2", {2, 1, 1, 1, 1}, 4, {{"parallelism.num_pp_microbatches", "4"}}},
                      Layout{"pp2_fsdp2_tp2", {2, 1, 2, 1, 2}, 4, {{"parallelism.num_pp_microbatches", "4"}}},
                      Layout{"fsdp2_full", {1, 1, 2, 1, 1}, 1, {{"activation_checkpoint.mode", "full"}}},
                      Layout{"tp2_selective", {1, 1, 1, 1, 2}, 1, {{"activation_checkpoint.mode", "selective"}}},
                      Layout{"experts", {1, 1, 1, 1, 1}, 1, {}, 1}, Layout{"ep2", {1, 1, 2, 1, 1}, 2, {}, 2},
                      Layout{"fsdp2_ep2", {1, 1, 4, 1, 1}, 1, {}, 2}, Layout{"ep2_tp2", {1, 1, 2, 1, 2}, 1, {}, 4}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace titan::testing
