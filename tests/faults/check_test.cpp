// Layouts that do not fit are refused with the arithmetic, before there is a rank.
#include "tests/faults/ranks.hpp"

namespace titan::cli {
namespace {

using ::testing::AllOf;
using Words = std::vector<std::string>;

struct Rule {
  const char* name;
  int num_ranks;
  Words words;  // over the tiny model: 1 layer, 4 heads, micro-batches of 2 rows of 64 tokens
  const char* says;
};

const Words kMixture = {"--module", "qwen3", "--config", "qwen3_debugmodel_moe"};

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = {
      {"degrees_and_ranks",
       4,
       {"--parallelism.data_parallel_shard_degree", "3"},
       "dp_shard 3 x cp 1 x tp 1, world size 4"},
      {"heads",
       3,
       {"--parallelism.tensor_parallel_degree", "3"},
       "must divide the numbers of heads and kv heads: 3, heads 4"},
      {"kv_heads",
       4,
       {"--parallelism.tensor_parallel_degree", "4", "--model.n_kv_heads", "2"},
       "must divide the numbers of heads and kv heads: 4, heads 4, kv heads 2"},
      {"layers",
       8,
       {"--parallelism.pipeline_parallel_degree", "8", "--parallelism.num_pp_microbatches", "8",
        "--training.num_tokens_per_train_step", "1024"},
       "there are more stages than layers: 8 stages"},
      {"micro_batches",
       2,
       {"--parallelism.pipeline_parallel_degree", "2", "--model.n_layers", "4", "--parallelism.num_pp_microbatches",
        "1"},
       "at least as many micro-batches as ranks"},
      {"groups",
       2,
       {"--parallelism.pipeline_parallel_degree", "2", "--model.n_layers", "4", "--parallelism.num_pp_microbatches",
        "2", "--training.num_tokens_per_train_step", "384"},
       "num_pp_microbatches"},
      {"tokens_and_cp",
       2,
       {"--parallelism.context_parallel_degree", "2", "--training.max_context_length", "62",
        "--training.num_tokens_per_microbatch_per_dp_rank", "62"},
       "62 = 15 x 4 + 2"},
      {"tokens_and_tp",
       2,
       {"--parallelism.tensor_parallel_degree", "2", "--training.max_context_length", "63",
        "--training.num_tokens_per_microbatch_per_dp_rank", "63"},
       "63 = 31 x 2 + 1"},
      {"balanced_tokens_cp_and_tp",
       4,
       {"--parallelism.context_parallel_degree", "2", "--parallelism.tensor_parallel_degree", "2",
        "--training.max_context_length", "60", "--training.num_tokens_per_microbatch_per_dp_rank", "60"},
       "60 = 7 x 8 + 4"},
      {"tokens_and_cp_without_balancer",
       2,
       {"--parallelism.context_parallel_degree", "2", "--parallelism.context_parallel_load_balancer", "none",
        "--training.max_context_length", "63", "--training.num_tokens_per_microbatch_per_dp_rank", "63"},
       "63 = 31 x 2 + 1"},
      {"rows_of_tokens", 2, {"--training.num_tokens_per_microbatch_per_dp_rank", "100"}, "100 = 1 x 64 + 36"},
      {"batch", 2, {"--training.num_tokens_per_train_step", "384"}, "384"},
      {"uneven_layers_per_stage",
       2,
       {"--parallelism.pipeline_parallel_degree", "2", "--model.n_layers", "4", "--parallelism.num_pp_microbatches",
        "2", "--parallelism.pipeline_parallel_layers_per_stage", "2"},
       "layers 4 + embedding 1 + head 1 = 6, parallelism.pipeline_parallel_layers_per_stage 2: 3 stages, 2 ranks"},
      {"interleaved_rounds",
       2,
       {"--parallelism.pipeline_parallel_degree", "2", "--model.n_layers", "4", "--parallelism.num_pp_microbatches",
        "5", "--parallelism.pipeline_parallel_schedule", "Interleaved1F1B"},
       "5 / 2 ranks = 2 rounds, 5 = 2 x 2 + 1"},
      {"experts", 3, joined(kMixture, {"--parallelism.expert_parallel_degree", "3"}),
       "must divide the number of experts: 3, 8 = 2 x 3 + 2: 1, 2, 4, 8 would fit"},
      {"experts_and_ranks", 4, joined(kMixture, {"--parallelism.expert_parallel_degree", "8"}),
       "must divide dp_shard x cp x tp, and be 1 or a multiple of tp: 8, dp_shard 4 x cp 1 x tp 1 = 4"},
      {"experts_and_tp", 4,
       joined(kMixture, {"--parallelism.expert_parallel_degree", "2", "--parallelism.tensor_parallel_degree", "4"}),
       "must divide dp_shard x cp x tp, and be 1 or a multiple of tp: 2, dp_shard 1 x cp 1 x tp 4 = 4"},
  };
  return all;
}

/// What only the model's modules tell.
const std::vector<Rule>& rules_of_modules() {
  static const std::vector<Rule> all = {
      {"features",
       2,
       {"--parallelism.tensor_parallel_degree", "2", "--model.hidden_dim", "33"},
       "must divide dim 0 of layers.0.feed_forward.w1.weight: 2, 33 = 16 x 2 + 1"},
      {"tied_weights",
       2,
       {"--model.enable_weight_tying", "--parallelism.pipeline_parallel_degree", "2",
        "--parallelism.num_pp_microbatches", "2", "--model.n_layers", "4"},
       "modules of different pipeline stages share a parameter"},
      {"documents_and_cp",
       2,
       {"--model.attn_mask_type", "block_causal", "--parallelism.context_parallel_degree", "2"},
       "attention with this mask cannot be split along the sequence: block_causal"},
  };
  return all;
}

class Arithmetic : public RanksTest, public ::testing::WithParamInterface<Rule> {
 protected:
  std::vector<std::string> words() const { return joined(tiny_model(), GetParam().words); }
};

TEST_P(Arithmetic, IsRefusedBeforeThereIsARank) {
  const Rule& rule = GetParam();
  EXPECT_THAT(launch(rule.num_ranks, joined({"train"}, words())).limit(120).run(),
              AllOf(ExitsWith(78), Says(rule.says)));
  EXPECT_FALSE(std::filesystem::exists(dump_folder())) << "no rank wrote a log";
}

TEST_P(Arithmetic, IsRefusedByTheVerb) {
  const Rule& rule = GetParam();
  EXPECT_THAT(titan({"check", "--world-size", std::to_string(rule.num_ranks)}).args(words()).limit(120).run(),
              AllOf(ExitsWith(78), Says(rule.says)));
}

INSTANTIATE_TEST_SUITE_P(Rules, Arithmetic, ::testing::ValuesIn(rules()),
                         [](const auto& rule) { return std::string(rule.param.name); });
INSTANTIATE_TEST_SUITE_P(Modules, Arithmetic, ::testing::ValuesIn(rules_of_modules()),
                         [](const auto& rule) { return std::string(rule.param.name); });

using Check = RanksTest;

TEST_F(Check, PrintsLayoutAndSizesOfWhatFits) {
  const Outcome outcome = titan({"check", "--world-size", "4"})
                              .args(tiny_model())
                              .args({"--parallelism.tensor_parallel_degree", "2"})
                              .limit(120)
                              .run();
  EXPECT_THAT(outcome, AllOf(ExitsWith(0), Prints("pp 1 x dp_replicate 1 x dp_shard 2 x cp 1 x tp 2 = 4 ranks"),
                             Prints("2 rows x 64 tokens x 1 micro-batch"), Prints("\nok\n")));
  EXPECT_FALSE(std::filesystem::exists(dump_folder()));
}

TEST_F(Check, LintsThePipeline) {
  const Outcome outcome = titan({"check", "--world-size", "2"})
                              .args(tiny_model())
                              .args({"--parallelism.pipeline_parallel_degree", "2", "--model.n_layers", "4",
                                     "--parallelism.num_pp_microbatches", "2"})
                              .limit(120)
                              .run();
  EXPECT_THAT(outcome, AllOf(ExitsWith(0), Prints("ok")));
}

TEST_F(Check, OfTwoSchedulesOneIsTooManyWhereThereAreStagesOnly) {
  const std::string other = std::filesystem::path(TITAN_FAULT_PLUGINS) / "other_schedule.so";
  const auto check = [&](const char* degree) {
    return titan({"check", "--world-size", "2"})
        .args(tiny_model())
        .args({"--plugin", other, "--parallelism.pipeline_parallel_degree", degree, "--parallelism.num_pp_microbatches",
               "2"})
        .limit(120)
        .run();
  };
  EXPECT_THAT(check("1"), ExitsWith(0));
  EXPECT_THAT(check("2"), AllOf(ExitsWith(78), Says("two plugins have a schedule for pipelines")));
}

TEST_F(Check, TakesAWorldSizeOnly) {
  EXPECT_THAT(titan({"check", "--world-size", "many"}).args(tiny_model()).run(),
              AllOf(ExitsWith(64), Says("--world-size takes a number")));
}

}  // namespace
}  // namespace titan::cli
