// Every layout, with and without recomputation and accumulation, trains as one rank does on the same global batches.
// "Covering" has each layout and model once in a mode and accumulation of its own; "Whole" is all of it, and slow.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/distributed/parity.hpp"

namespace titan::testing {
namespace {

struct Layout {
  std::string name;
  config::Degrees degrees;         // pp, dp_replicate, dp_shard, cp, tp
  std::int64_t expert_degree = 1;  // above 1: for mixtures only
  std::string schedule = "";
  Settings settings = {};
};

const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {
      {"one", kOneRank},
      {"fsdp2", {1, 1, 2, 1, 1}},
      {"tp2", {1, 1, 1, 1, 2}},
      {"tp4", {1, 1, 1, 1, 4}},
      {"tp2_no_sp", {1, 1, 1, 1, 2}, 1, "", {{"parallelism.enable_sequence_parallel", "false"}}},
      {"cp2", {1, 1, 1, 2, 1}},
      {"cp4", {1, 1, 1, 4, 1}},
      {"pp2_gpipe", {2, 1, 1, 1, 1}, 1, "GPipe"},
      {"pp2_1f1b", {2, 1, 1, 1, 1}, 1, "1F1B"},
      {"pp2_interleaved", {2, 1, 1, 1, 1}, 1, "Interleaved1F1B"},
      {"pp4_gpipe", {4, 1, 1, 1, 1}, 1, "GPipe"},
      {"pp4_1f1b", {4, 1, 1, 1, 1}, 1, "1F1B"},
      {"pp4_interleaved", {4, 1, 1, 1, 1}, 1, "Interleaved1F1B"},
      {"fsdp2_tp2", {1, 1, 2, 1, 2}},
      {"hsdp2x2_tp2", {1, 2, 2, 1, 2}},
      {"fsdp2_cp2", {1, 1, 2, 2, 1}},
      {"tp2_cp2", {1, 1, 1, 2, 2}},
      {"pp2_tp2", {2, 1, 1, 1, 2}, 1, "1F1B"},
      {"pp2_fsdp2", {2, 1, 2, 1, 1}, 1, "1F1B"},
      {"pp2_cp2_hsdp2x2", {2, 2, 2, 2, 1}, 1, "1F1B"},
      {"ep2", {1, 1, 2, 1, 1}, 2},
      {"ep4", {1, 1, 4, 1, 1}, 4},
      {"fsdp2_ep2", {1, 1, 4, 1, 1}, 2},
      {"fsdp2_tp2_ep2", {1, 1, 2, 1, 2}, 2},
      {"pp2_ep2", {2, 1, 2, 1, 1}, 2, "1F1B"},
      {"hsdp2x2", {1, 2, 2, 1, 1}},
  };
  return all;
}

struct Case {
  Layout layout;
  std::string preset;
  std::string mode;
  std::int64_t accumulation = 1;
  Tolerance tolerance = kDouble;
};

std::string name_of(const Case& wanted) {
  return wanted.preset + "_" + wanted.layout.name + "_" + wanted.mode +
         (wanted.accumulation == 1 ? "" : "_accumulated" + std::to_string(wanted.accumulation)) + "_" +
         wanted.tolerance.dtype;
}

const std::string kDense = "llama3_parity", kMixture = "qwen3_parity_moe";

/// The cases that `wants` chooses, by numbers of layout, mode and accumulation.
template <class Wants>
std::vector<Case> cases(Wants wants) {
  const std::vector<std::string> modes = {"none", "selective", "full"};
  std::vector<Case> found;
  for (std::size_t place = 0; place < layouts().size(); ++place) {
    const Layout& layout = layouts()[place];
    for (const std::string& preset : {kDense, kMixture}) {
      if (preset == kDense && layout.expert_degree > 1) continue;
      for (std::size_t mode = 0; mode < modes.size(); ++mode) {
        for (std::size_t extra = 0; extra < 2; ++extra) {
          for (const Tolerance& tolerance : {kDouble, kSingle}) {
            Case made{layout, preset, modes[mode], static_cast<std::int64_t>(extra) + 1, tolerance};
            if (wants(place + (preset == kMixture ? 1 : 0), mode, extra, tolerance)) found.push_back(std::move(made));
          }
        }
      }
    }
  }
  return found;
}

std::vector<Case> whole() {
  return cases([](std::size_t, std::size_t, std::size_t, const Tolerance&) { return true; });
}

/// Neighbours in the list differ in mode and accumulation; a quarter of them is in float32.
std::vector<Case> covering() {
  return cases([](std::size_t number, std::size_t mode, std::size_t extra, const Tolerance& tolerance) {
    const bool is_single = std::string(tolerance.dtype) == kSingle.dtype;
    return mode == number % 3 && extra == (number / 2) % 2 && is_single == (number % 4 == 3);
  });
}

RankRuns run_of(const Case& wanted) {
  const Layout& layout = wanted.layout;
  const std::int64_t stages = layout.degrees[0], group = stages;
  RankRuns runs = parity_run(layout.degrees, wanted.tolerance, group * wanted.accumulation, wanted.preset);
  runs.expert_degree = layout.expert_degree;
  if (stages > 1) {
    runs.settings.push_back({"parallelism.pipeline_parallel_schedule", layout.schedule});
    runs.settings.push_back({"parallelism.num_pp_microbatches", std::to_string(group)});
  }
  runs.settings.push_back({"activation_checkpoint.mode", wanted.mode});
  runs.settings.insert(runs.settings.end(), layout.settings.begin(), layout.settings.end());
  return runs;
}

class Matrix : public ::testing::TestWithParam<Case> {};

TEST_P(Matrix, TrainsAsOneRank) {
  const Case& wanted = GetParam();
  const RankOutcome outcome = run_ranks(run_of(wanted));
  const RankOutcome& expected = one_rank(wanted.tolerance, wanted.preset);
  expect_parity(outcome, expected, wanted.tolerance);
  EXPECT_TRUE(bit_equal(outcome.buffers, expected.buffers)) << "tokens are counted once, whatever is recomputed";
}

std::string case_name(const ::testing::TestParamInfo<Case>& wanted) { return name_of(wanted.param); }

INSTANTIATE_TEST_SUITE_P(Covering, Matrix, ::testing::ValuesIn(covering()), case_name);
INSTANTIATE_TEST_SUITE_P(Whole, Matrix, ::testing::ValuesIn(whole()), case_name);

}  // namespace
}  // namespace titan::testing
