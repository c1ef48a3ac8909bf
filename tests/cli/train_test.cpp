#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

using Json = nlohmann::json;

class TrainingTest : public TrainTest {
 protected:
  static std::vector<Json> rows(const std::filesystem::path& path) {
    std::vector<Json> rows;
    std::istringstream lines(read(path));
    for (std::string line; std::getline(lines, line);) rows.push_back(Json::parse(line));
    return rows;
  }
  std::vector<Json> metrics() const { return rows(dump_folder() / "metrics.jsonl"); }

  /// Runs, expects success, and returns the metrics rows.
  std::vector<Json> train(std::initializer_list<std::string> args) const {
    const Outcome outcome = tiny_run(args).run();
    EXPECT_THAT(outcome, ExitsWith(0));
    return metrics();
  }

  template <class T>
  static std::vector<T> column(const std::vector<Json>& rows, const char* name) {
    std::vector<T> values;
    for (const Json& row : rows) values.push_back(row.at(name).get<T>());
    return values;
  }
};

TEST_F(TrainingTest, EveryStepHasItsRow) {
  const std::vector<Json> steps = train({});
  EXPECT_THAT(column<int>(steps, "step"), testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(column<int>(steps, "tokens"), testing::ElementsAre(128, 256, 384));
  double elapsed = 0;
  for (const Json& row : steps) {
    EXPECT_EQ(row.size(), 11U) << row;
    EXPECT_NEAR(row.at("loss").get<double>(), std::log(2048), 1.5) << row;
    EXPECT_GT(row.at("grad_norm").get<double>(), 0) << row;
    EXPECT_GT(row.at("lr").get<double>(), 0) << row;
    EXPECT_GT(row.at("tps").get<double>(), 0) << row;
    EXPECT_GT(row.at("tflops").get<double>(), 0) << row;
    EXPECT_TRUE(row.at("mfu").is_null() || row.at("mfu").get<double>() > 0) << row;
    EXPECT_GT(row.at("peak_memory_bytes").get<long>(), 4 * 2048 * 32) << row;
    EXPECT_GE(row.at("data_time_share").get<double>(), 0) << row;
    EXPECT_LE(row.at("data_time_share").get<double>(), 1) << row;
    EXPECT_GT(row.at("elapsed_s").get<double>(), elapsed) << row;
    elapsed = row.at("elapsed_s").get<double>();
  }
}

TEST_F(TrainingTest, TheConsoleShowsEveryStep) {
  const Outcome outcome = tiny_run({}).run();
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome.err, testing::ContainsRegex("step:  1  loss: [0-9]+\\.[0-9]{5}  grad_norm: +[0-9.]+  memory: "
                                                  "+[0-9.]+GiB\\([0-9.]+%\\)  tps: [0-9,]+  tflops: [0-9.]+  mfu: "));
  EXPECT_THAT(outcome, Says("step:  3"));
  EXPECT_THAT(outcome, Says("training completed"));
  EXPECT_EQ(outcome.out, "") << "standard output belongs to what verbs print";
}

TEST_F(TrainingTest, TheLossFalls) {
  const std::vector<Json> steps =
      train({"--training.steps=30", "--debug.seed=1", "--optimizer.lr=0.01", "--lr_scheduler.warmup_steps=2"});
  EXPECT_LT(steps.back().at("loss").get<double>(), steps.front().at("loss").get<double>() - 0.5);
}

TEST_F(TrainingTest, LogFrequencyKeepsFirstAndLast) {
  const std::vector<Json> steps = train({"--metrics.log_freq=2", "--training.steps=5"});
  EXPECT_THAT(column<int>(steps, "step"), testing::ElementsAre(1, 2, 4, 5));
}

TEST_F(TrainingTest, OneSeedGivesTheSameBits) {
  const std::vector<Json> first = train({"--debug.seed=7"});
  const std::vector<Json> second = train({"--debug.seed=7"});
  const std::vector<Json> other = train({"--debug.seed=8"});
  EXPECT_EQ(column<double>(first, "loss"), column<double>(second, "loss"));
  EXPECT_EQ(column<double>(first, "grad_norm"), column<double>(second, "grad_norm"));
  EXPECT_NE(column<double>(first, "loss"), column<double>(other, "loss"));
}

TEST_F(TrainingTest, AccumulationTrainsOnTheSameBatch) {
  const auto run = [&](const char* microbatch) {
    return train({"--debug.seed=3", "--training.mixed_precision_param=float32",
                  "--training.num_tokens_per_train_step=512",
                  std::string("--training.num_tokens_per_microbatch_per_dp_rank=") + microbatch});
  };
  const std::vector<Json> whole = run("512");
  const std::vector<Json> parts = run("128");
  EXPECT_THAT(column<int>(parts, "tokens"), testing::ElementsAre(512, 1024, 1536));
  EXPECT_THAT(column<double>(parts, "loss"),
              testing::Pointwise(testing::DoubleNear(1e-5), column<double>(whole, "loss")));
  EXPECT_THAT(column<double>(parts, "grad_norm"),
              testing::Pointwise(testing::DoubleNear(1e-4), column<double>(whole, "grad_norm")));
}

TEST_F(TrainingTest, EveryPrecisionTrains) {
  const auto first_loss = [&](const char* storage, const char* compute) {
    return train({"--debug.seed=3", std::string("--training.dtype=") + storage,
                  std::string("--training.mixed_precision_param=") + compute,
                  "--training.mixed_precision_reduce=float64"})
        .front()
        .at("loss")
        .get<double>();
  };
  const double exact = first_loss("float64", "float64");
  EXPECT_NEAR(first_loss("float32", "float32"), exact, 1e-4);
  EXPECT_NEAR(first_loss("float32", "bfloat16"), exact, 0.05);
}

TEST_F(TrainingTest, ANonFiniteLossStopsTheRun) {
  const Outcome outcome =
      tiny_run({"--optimizer.lr=1e30", "--lr_scheduler.warmup_steps=0", "--training.steps=20"}).run();
  EXPECT_THAT(outcome, ExitsWith(80));
  EXPECT_THAT(outcome.err, testing::ContainsRegex("not finite|non-finite|NaN|nan"));
  for (const Json& row : metrics()) EXPECT_TRUE(row.at("loss").is_number()) << row;
}

TEST_F(TrainingTest, MemoryThatRunsOutIsNamedSo) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer reserves more address space than the test allows";
#endif
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  const Outcome outcome = tiny_run({"--model.vocab_size=16777216"}).address_space(5 * kGiB / 2).run();
  EXPECT_THAT(outcome, ExitsWith(71));
  EXPECT_THAT(outcome, Says("out of memory"));
}

TEST_F(TrainingTest, ValidationHasItsOwnRows) {
  const Outcome outcome =
      tiny_run({"--validator.enable", "--validator.freq=2", "--validator.steps=2", "--training.steps=4"}).run();
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Says("validate step:  2"));
  const std::vector<Json> passes = rows(dump_folder() / "validation.jsonl");
  ASSERT_FALSE(passes.empty());
  EXPECT_EQ(passes.back().at("step"), 4);
  for (const Json& row : passes) EXPECT_NEAR(row.at("loss").get<double>(), std::log(2048), 1.5) << row;
  EXPECT_THAT(column<int>(metrics(), "step"), testing::ElementsAre(1, 2, 3, 4));
}

TEST_F(TrainingTest, TheRunsConfigurationLoadsBack) {
  ASSERT_THAT(tiny_run({"--debug.seed=5"}).run(), ExitsWith(0));
  const std::vector<Json> first = metrics();
  const Outcome again = titan({"--config", dump_folder() / "config.toml"}).run();
  EXPECT_THAT(again, ExitsWith(0));
  EXPECT_EQ(column<double>(metrics(), "loss"), column<double>(first, "loss"));
}

TEST_F(TrainingTest, ConfigurationIsSavedAndPrintedOnRequest) {
  const Outcome outcome = tiny_run({"--debug.print_config", "--debug.save_config_file=copy/run.toml"}).run();
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome.err, testing::ContainsRegex("steps *= *3"));
  const std::string saved = read(dump_folder() / "copy/run.toml");
  EXPECT_NE(saved, "");
  EXPECT_EQ(saved, read(dump_folder() / "config.toml"));
}

TEST_F(TrainingTest, ACopyOfTheConfigurationReplacesNoFileOfTheRun) {
  const Outcome outcome = tiny_run({"--debug.save_config_file=logs/rank_0.log"}).run();
  EXPECT_THAT(outcome, ExitsWith(73));
  EXPECT_THAT(outcome, Says("logs/rank_0.log"));
}

TEST_F(TrainingTest, OptionsThatNothingReadsAreNamed) {
  const Outcome outcome =
      tiny_run({"--training.steps=1", "--profiler.memory_snapshot_freq=3", "--profiler.memory_snapshot_stacks=cpp",
                "--profiler.profile_freq=5", "--activation_checkpoint.mode=none", "--activation_checkpoint.debug"})
          .run();
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Says("profiler.memory_snapshot_freq, profiler.memory_snapshot_stacks have no effect without "
                            "profiler.enable_memory_snapshot"));
  EXPECT_THAT(outcome, Says("profiler.profile_freq has no effect without profiler.enable_profiling or "
                            "profiler.enable_memory_snapshot"));
  EXPECT_THAT(outcome, Says("activation_checkpoint.debug has no effect without activation_checkpoint.mode selective"));
  const Outcome late = tiny_run({"--profiler.enable_memory_snapshot", "--profiler.memory_snapshot_freq=4"}).run();
  EXPECT_THAT(late, Says("profiler.memory_snapshot_freq 4 is more than training.steps 3"));
  EXPECT_EQ(tiny_run({"--training.steps=1"}).run().err.find("no effect"), std::string::npos)
      << "presets are no request";
}

TEST_F(TrainingTest, WhatARunRefusesACheckRefusesToo) {
  const std::vector<std::vector<std::string>> wrong{{"--profiler.enable_profiling", "--profiler.profile_freq=3"},
                                                    {"--debug.break_at", "rank=7,foo=3"},
                                                    {"--sdc_replay.enabled"}};
  for (const auto& words : wrong) {
    EXPECT_THAT(titan({"check"}).args(tiny_model()).args(words).run(), ExitsWith(78)) << words.front();
  }
  EXPECT_THAT(titan({"check"}).args(tiny_model()).args({"--profiler.enable_profiling"}).run(), ExitsWith(0));
  EXPECT_FALSE(std::filesystem::exists(dump_folder()));
}

TEST_F(TrainingTest, ARankOfSeveralMustKnowWhereTheyMeet) {
  const Outcome outcome = tiny_run({}).env("WORLD_SIZE", "2").env("RANK", "1").run();
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("MASTER_ADDR is missing"));
}

TEST_F(TrainingTest, ALayoutThatDoesNotFitTheRanksIsRefusedWithTheArithmetic) {
  const Outcome outcome = tiny_run({"--parallelism.data_parallel_shard_degree", "2"}).run();
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("dp_shard 2"));
  EXPECT_FALSE(std::filesystem::exists(dump_folder()));
}

TEST_F(TrainingTest, AGpuIsRefusedByName) {
  const Outcome outcome = tiny_run({"--training.device=cuda"}).run();
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("cuda"));
}

}  // namespace
}  // namespace titan::cli
