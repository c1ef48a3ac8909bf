// titan compare layouts: correct layouts agree with one rank, and seeded faults are named.
#include <nlohmann/json.hpp>

#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

using Words = std::vector<std::string>;

const Words kFsdp2{}, kDdp2{"--parallelism.data_parallel_replicate_degree=2"},
    kTp2{"--parallelism.tensor_parallel_degree=2"}, kCp2{"--parallelism.context_parallel_degree=2"},
    kPp2{"--parallelism.pipeline_parallel_degree=2", "--parallelism.num_pp_microbatches=2",
         "--training.num_tokens_per_train_step=256"};

class CompareLayoutsTest : public TrainTest {
 protected:
  /// Two ranks of a small llama3, whose settings are `layout` over the small ones.
  Outcome compare(const Words& flags, const Words& layout) const {
    return titan({"compare", "layouts", "--world-size", "2"})
        .args(flags)
        .args({"--"})
        .args(tiny_model())
        .args({"--model.n_layers=2", "--model.attn_mask_type=causal"})
        .args(layout)
        .run();
  }
  /// The fault is about the ranks of a group and the first parameter of a module.
  Outcome compare_faulty(const std::string& fault, const Words& layout, const std::string& group = "fsdp",
                         const std::string& module = "layers.0.attention.wq") const {
    Words words = faulty_words(fault, group, module);
    words.insert(words.end(), layout.begin(), layout.end());
    return compare({}, words);
  }
  /// A mixture of experts, spread over two ranks.
  Outcome compare_mixture(const Words& flags, const Words& more) const {
    return titan({"compare", "layouts", "--world-size", "2"})
        .args(flags)
        .args({"--", "--module", "qwen3", "--config", "qwen3_parity_moe", "--hf_assets_path",
               source("tests/assets/tokenizer"), "--dataloader.dataset_path", corpus_, "--model.n_layers=2",
               "--training.max_context_length=16", "--training.num_tokens_per_microbatch_per_dp_rank=64",
               "--parallelism.expert_parallel_degree=2"})
        .args(more)
        .run();
  }
  static Words faulty_words(const std::string& fault, const std::string& group, const std::string& module) {
    return {"--plugin", TITAN_FAULTY_PLUGIN, "--faulty.fault=" + fault, "--faulty.axis=" + group,
            "--faulty.module=" + module};
  }
};

TEST_F(CompareLayoutsTest, AgreesWithCorrectLayouts) {
  for (const Words& layout : {kFsdp2, kDdp2, kTp2, kCp2, kPp2}) {
    const Outcome outcome = compare({"--steps", "2"}, layout);
    EXPECT_THAT(outcome, ExitsWith(0));
    EXPECT_THAT(outcome, Prints("the layout agrees with one rank"));
    EXPECT_THAT(outcome, Prints("layers.1.feed_forward.w2.weight"));
    EXPECT_THAT(outcome, Prints("step 2: loss"));
  }
}

TEST_F(CompareLayoutsTest, AgreesWhereExpertsAreSpread) {
  const Outcome outcome = compare_mixture({"--steps", "2"}, {});
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("the layout agrees with one rank"));
  EXPECT_THAT(outcome, Prints("layers.1.moe.experts.w1"));
  EXPECT_THAT(outcome, Prints("         0  layers.1.moe.expert_bias\n"));
}

TEST_F(CompareLayoutsTest, TakesAModelOfAnotherProject) {
  for (const Words& layout : {kFsdp2, kTp2, kCp2, kPp2}) {
    const Outcome outcome =
        titan({"compare", "layouts", "--world-size", "2", "--", "--plugin", TITAN_EXAMPLE_MODEL, "--module", "minigpt",
               "--config", "minigpt_debugmodel", "--hf_assets_path", source("tests/assets/tokenizer"),
               "--dataloader.dataset_path", corpus_, "--model.dim=32", "--training.max_context_length=64",
               "--training.num_tokens_per_microbatch_per_dp_rank=128"})
            .args(layout)
            .run();
    EXPECT_THAT(outcome, ExitsWith(0));
    EXPECT_THAT(outcome, Prints("layers.1.feed_forward.down.weight"));
  }
}

TEST_F(CompareLayoutsTest, ComparesInOtherPrecisions) {
  EXPECT_THAT(compare({"--dtype", "float32"}, kFsdp2), ExitsWith(0));
  EXPECT_THAT(compare({"--dtype", "configured"}, kFsdp2), ExitsWith(0)) << "bfloat16";
  EXPECT_THAT(compare({"--dtype", "float32", "--tolerance", "1e-15"}, kFsdp2), ExitsWith(1));
}

TEST_F(CompareLayoutsTest, WritesJson) {
  const Outcome outcome = compare({"--json"}, kFsdp2);
  EXPECT_THAT(outcome, ExitsWith(0));
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_TRUE(json.at("agrees").get<bool>());
  EXPECT_EQ(json.at("parameters").size(), 21U);
  EXPECT_LT(json.at("parameters").at(0).at("gradient").get<double>(), 1e-12);
  EXPECT_EQ(json.at("modules"), json.at("whole_modules"));
}

TEST_F(CompareLayoutsTest, NamesAFactorAndItsAxis) {
  const Outcome outcome = compare_faulty("factor", kFsdp2);
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Says("layers.0.attention.wq.weight"));
  EXPECT_THAT(outcome, Says("x 2 = dp_shard: summed twice?"));
  EXPECT_THAT(outcome, Prints("1 of 21 parameters differ"));
  EXPECT_THAT(outcome, Prints("first parameter that differs, in order of declaration: layers.0.attention.wq.weight"));
}

TEST_F(CompareLayoutsTest, NamesAMissingReduction) {
  const Outcome outcome = compare_faulty("missing_reduction", kDdp2);
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Says("layers.0.attention.wq.weight"));
  EXPECT_THAT(outcome, Says("ranks along dp_replicate hold summands: missing reduction over dp_replicate"));
}

TEST_F(CompareLayoutsTest, NamesAWrongOffsetOfAShard) {
  const Outcome outcome = compare_faulty("wrong_offset", kFsdp2);
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Says("rank 0 has the part of rank 1 along dp_shard: wrong offset of a shard"));
}

TEST_F(CompareLayoutsTest, NamesAFactorOfTensorParallelism) {
  const Outcome outcome = compare_faulty("factor", kTp2, "tp");
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Says("1 of 21 parameters, layers.0.attention.wq.weight"));
  EXPECT_THAT(outcome, Says("x 2 = tp: summed twice?"));
}

TEST_F(CompareLayoutsTest, NamesAWrongOffsetOfTensorParallelism) {
  const Outcome outcome = compare_faulty("wrong_offset", kTp2, "tp", "layers.1.feed_forward.w2");
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Says("1 of 21 parameters, layers.1.feed_forward.w2.weight"));
  EXPECT_THAT(outcome, Says("rank 0 has the part of rank 1 along tp: wrong offset of a shard"));
}

TEST_F(CompareLayoutsTest, NamesAMissingReductionOfTensorParallelism) {
  const Outcome outcome = compare_faulty("missing_reduction", kTp2, "tp", "layers.0.attention_norm");
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Says("1 of 21 parameters, layers.0.attention_norm.weight"));
  EXPECT_THAT(outcome, Says("ranks along tp hold summands: missing reduction over tp"));
}

TEST_F(CompareLayoutsTest, NamesAFactorOfContextParallelism) {
  const Outcome outcome = compare_faulty("factor", kCp2, "cp");
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Says("1 of 21 parameters, layers.0.attention.wq.weight"));
  EXPECT_THAT(outcome, Says("x 2 = cp: summed twice?"));
}

// Each rank keeps a part of its own summand: no rank has another one to tell it by.
TEST_F(CompareLayoutsTest, NamesTheParameterOfAMissingReductionOfContextParallelism) {
  const Outcome outcome = compare_faulty("missing_reduction", kCp2, "cp");
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Says("1 of 21 parameters, layers.0.attention.wq.weight"));
}

TEST_F(CompareLayoutsTest, NamesAFactorOfAPipelinesStage) {
  const Outcome outcome = compare_faulty("factor", kPp2, "pp", "layers.1.attention.wq");
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Says("1 of 21 parameters, layers.1.attention.wq.weight"));
  EXPECT_THAT(outcome, Says("x 2 = pp: summed twice?"));
}

TEST_F(CompareLayoutsTest, NamesAFactorOfExpertParallelism) {
  const Outcome outcome = compare_mixture({}, faulty_words("factor", "ep", "layers.1.moe.experts"));
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Says("layers.1.moe.experts.w1"));
  EXPECT_THAT(outcome, Says("x 2 = dp_shard or ep: summed twice?"));
}

TEST_F(CompareLayoutsTest, NamesAWrongOffsetOfExpertParallelism) {
  const Outcome outcome = compare_mixture({}, faulty_words("wrong_offset", "ep", "layers.1.moe.experts"));
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Says("layers.1.moe.experts.w1"));
  EXPECT_THAT(outcome, Says("rank 0 has the part of rank 1 along dp_shard or ep: wrong offset of a shard"));
}

TEST_F(CompareLayoutsTest, NamesTheFirstModuleThatDiffers) {
  const Outcome outcome = compare_faulty("output", kCp2);
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Says("first module layers.0.attention.wq"));
}

TEST_F(CompareLayoutsTest, NamesModulesBetweenMatricesThatAreSplit) {
  Words layout = kTp2;
  layout.push_back("--faulty.module=layers.1.ffn_norm");
  const Outcome outcome = compare_faulty("output", layout);
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Says("first module layers.1.ffn_norm"));
}

TEST_F(CompareLayoutsTest, NamesRopeWhereColumnsHaveWrongPositions) {
  const Outcome outcome = compare_faulty("positions", kCp2);
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Says("first module layers.0.attention.rope"));
}

TEST_F(CompareLayoutsTest, RefusesWhatItCannotCompare) {
  EXPECT_THAT(titan({"compare", "layouts"}).run(), ExitsWith(64));
  EXPECT_THAT(compare({"--dtype", "float16"}, kFsdp2), ExitsWith(64));
  EXPECT_THAT(compare({"--steps", "0"}, kFsdp2), ExitsWith(64));
  EXPECT_THAT(compare({"--tolerance", "-1"}, kFsdp2), ExitsWith(64));
  EXPECT_THAT(compare({}, {"--parallelism.tensor_parallel_degree=3"}), ExitsWith(78));
}

TEST_F(CompareLayoutsTest, RefusesALayoutBeforeTheReferenceRuns) {
  // Steps that would take the reference minutes.
  const Outcome outcome = titan({"compare", "layouts", "--world-size", "3", "--steps", "32000", "--"})
                              .args(tiny_model())
                              .args({"--parallelism.tensor_parallel_degree=3"})
                              .run();
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("parallelism.tensor_parallel_degree"));
  EXPECT_EQ(outcome.err.find("the reference: one rank"), std::string::npos);
}

}  // namespace
}  // namespace titan::cli
