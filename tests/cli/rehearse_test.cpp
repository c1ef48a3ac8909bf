#include <nlohmann/json.hpp>

#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Rehearsals of a model with six layers, on machines that are not there. No data set and no tokenizer are here.
class RehearseTest : public TrainTest {
 protected:
  static std::vector<std::string> model() {
    return {"--module",
            "llama3",
            "--config",
            "llama3_debugmodel",
            "--training.max_context_length",
            "128",
            "--training.num_tokens_per_microbatch_per_dp_rank",
            "512"};
  }
  Command rehearse(std::initializer_list<std::string> args) const {
    return titan({"rehearse"}).args(model()).args(args);
  }
  Command fake(const char* world_size, const char* rank, std::initializer_list<std::string> args) const {
    return titan({"train"})
        .args(model())
        .args({"--comm.mode", "fake_backend"})
        .args(args)
        .env("WORLD_SIZE", world_size)
        .env("RANK", rank);
  }
  static nlohmann::json json_of(const Outcome& outcome) { return nlohmann::json::parse(outcome.out); }
};

TEST_F(RehearseTest, FakeBackendRehearsesOneStepUnlessTheUserAsksForMore) {
  const Outcome one = fake("4", "2", {}).run();
  ASSERT_THAT(one, ExitsWith(0));
  EXPECT_THAT(one, Says("layout: pp 1 x dp_replicate 1 x dp_shard 4 x cp 1 x tp 1 = 4 ranks, this is rank 2"));
  EXPECT_THAT(one, Says("step:  1  loss: n/a  grad_norm: n/a  memory:"));
  EXPECT_THAT(one, Prints(", 1 step, in "));
  EXPECT_THAT(fake("4", "0", {"--training.steps", "3"}).run(), Prints(", 3 steps, in "));
  folder_.write("run.toml", "config = \"llama3_debugmodel\"\n[training]\nsteps = 2\n");
  EXPECT_THAT(fake("4", "0", {"--config", "run.toml"}).run(), Prints(", 2 steps, in "));
}

TEST_F(RehearseTest, MissingInputsAreFindings) {
  const Outcome outcome =
      fake("2", "0", {"--dataloader.dataset_path", "/nowhere", "--hf_assets_path", "/nowhere"}).run();
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("missing  dataset"));
  EXPECT_THAT(outcome, Prints("missing  tokenizer"));
  EXPECT_FALSE(std::filesystem::exists(dump_folder()));
}

TEST_F(RehearseTest, ACheckpointIsHeldAgainstTheModel) {
  ASSERT_THAT(tiny_run({"--checkpoint.enable", "--checkpoint.interval", "1"}).run(), ExitsWith(0));
  const auto state = [&](std::initializer_list<std::string> args) {
    const Outcome outcome = titan({"rehearse"})
                                .args(tiny_model())
                                .args({"--world-size", "2", "--checkpoint.enable", "--json"})
                                .args(args)
                                .run();
    EXPECT_THAT(outcome, ExitsWith(0));
    const nlohmann::json json = json_of(outcome);
    for (const nlohmann::json& line : json.at("preflight")) {
      if (line.at("what") == "checkpoint") return line.at("state").get<std::string>();
    }
    return std::string();
  };
  EXPECT_EQ(state({}), "ok");
  EXPECT_EQ(state({"--model.n_layers", "2"}), "missing");
  EXPECT_EQ(state({"--checkpoint.folder", "elsewhere"}), "n.a.");
}

TEST_F(RehearseTest, OtherCommModesAndRanksAreRefusedByName) {
  for (const char* mode : {"local_tensor", "torchcomms"}) {
    const Outcome outcome = titan({"train"}).args(model()).args({"--comm.mode", mode}).run();
    EXPECT_THAT(outcome, ExitsWith(78));
    EXPECT_THAT(outcome, Says(mode));
    EXPECT_THAT(outcome, Says("default, fake_backend"));
  }
  const Outcome rank = fake("4", "4", {}).run();
  EXPECT_THAT(rank, ExitsWith(78));
  EXPECT_THAT(rank, Says("RANK must be an integer from 0 to 3 (WORLD_SIZE 4): \"4\""));
  EXPECT_THAT(fake("four", "0", {}).run(), Says("WORLD_SIZE"));
}

TEST_F(RehearseTest, WrongFlagsAreRefusedByName) {
  const Outcome rank = rehearse({"--world-size", "4", "--rank", "4"}).run();
  EXPECT_THAT(rank, ExitsWith(78));
  EXPECT_THAT(rank, Says("--rank takes a rank from 0 to 3"));
  const Outcome size = rehearse({"--world-size", "0"}).run();
  EXPECT_THAT(size, ExitsWith(78));
  EXPECT_THAT(size, Says("--world-size takes a number of ranks from 1 to"));
  EXPECT_THAT(rehearse({"--hardware", "abacus"}).run(), Says("h100"));
  EXPECT_THAT(titan({"rehearse"}).run(), ExitsWith(64));
}

TEST_F(RehearseTest, LayoutsThatCannotBeAreRefusedWithTheArithmetic) {
  const Outcome degrees = rehearse({"--world-size", "6", "--parallelism.tensor_parallel_degree", "4"}).run();
  EXPECT_THAT(degrees, ExitsWith(78));
  EXPECT_THAT(degrees, Says("the other degrees must divide the number of ranks"));
  const Outcome heads = rehearse({"--world-size", "3", "--parallelism.tensor_parallel_degree", "3"}).run();
  EXPECT_THAT(heads, ExitsWith(78));
}

TEST_F(RehearseTest, TellsWhatEachKindOfRankDoes) {
  const Outcome outcome =
      rehearse({"--world-size", "8", "--parallelism.pipeline_parallel_degree", "2", "--parallelism.num_pp_microbatches",
                "4", "--parallelism.tensor_parallel_degree", "2", "--json"})
          .run();
  ASSERT_THAT(outcome, ExitsWith(0));
  const nlohmann::json json = json_of(outcome);
  EXPECT_EQ(json.at("layout").at("world_size"), 8);
  EXPECT_EQ(json.at("matching").at("agrees"), true);
  EXPECT_TRUE(json.at("deadlock").is_null());
  std::int64_t represented = 0;
  for (const nlohmann::json& rank : json.at("ranks")) {
    represented += rank.at("num_ranks").get<std::int64_t>();
    std::int64_t sum = 0;
    for (const auto& [kind, bytes] : rank.at("memory").at("peak_kinds").items()) sum += bytes.get<std::int64_t>();
    EXPECT_EQ(sum, rank.at("memory").at("peak_bytes"));
    EXPECT_GT(rank.at("flops"), 0);
    EXPECT_FALSE(rank.at("collectives").empty());
  }
  EXPECT_EQ(represented, 8);
  EXPECT_LT(json.at("ranks").size(), 8U);
  EXPECT_GT(json.at("estimate").at("step_s"), 0);
}

TEST_F(RehearseTest, AllRanksAgreeWithTheOnesThatStandForThem) {
  const auto peaks = [&](std::initializer_list<std::string> args) {
    std::map<std::int64_t, std::int64_t> found;
    const nlohmann::json json = json_of(rehearse(args).run());
    for (const nlohmann::json& rank : json.at("ranks")) {
      found[rank.at("rank")] = rank.at("memory").at("peak_bytes");
    }
    return found;
  };
  const auto all = peaks({"--world-size", "4", "--json", "--all-ranks"});
  EXPECT_EQ(all.size(), 4U);
  for (const auto& [rank, bytes] : peaks({"--world-size", "4", "--json"})) EXPECT_EQ(all.at(rank), bytes);
}

TEST_F(RehearseTest, FindsWhatFits) {
  const Outcome roomy = rehearse({"--world-size", "2", "--memory-per-gpu", "80"}).run();
  ASSERT_THAT(roomy, ExitsWith(0));
  EXPECT_THAT(roomy, Prints("fits in 80 GiB"));
  const nlohmann::json now = json_of(rehearse({"--world-size", "2", "--json"}).run());
  const double peak = now.at("ranks").at(0).at("memory").at("peak_bytes").get<double>() / (1 << 30);
  const Outcome tight = rehearse({"--world-size", "2", "--json", "--memory-per-gpu", std::to_string(peak * 0.9)}).run();
  EXPECT_THAT(tight, ExitsWith(71));
  EXPECT_THAT(tight, Says("does not fit"));
  const nlohmann::json search = json_of(tight).at("search");
  ASSERT_FALSE(search.at("options").is_null()) << tight.out;
  // What is advised does fit.
  const auto options = search.at("options").get<std::vector<std::string>>();
  EXPECT_THAT(rehearse({"--world-size", "2", "--memory-per-gpu", std::to_string(peak * 0.9)}).args(options).run(),
              ExitsWith(0));
}

TEST_F(RehearseTest, WritesAPage) {
  const Outcome outcome = rehearse({"--world-size", "4", "--parallelism.pipeline_parallel_degree", "2",
                                    "--parallelism.num_pp_microbatches", "2", "--html", "page.html"})
                              .run();
  ASSERT_THAT(outcome, ExitsWith(0));
  const std::string page = read(folder_ / "page.html");
  EXPECT_THAT(page, HasSubstr("<h2>Memory</h2>"));
  EXPECT_THAT(page, HasSubstr("<h2>Pipeline</h2>"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST_F(RehearseTest, ShowsOneRank) {
  const Outcome outcome = rehearse({"--world-size", "4", "--parallelism.pipeline_parallel_degree", "2",
                                    "--parallelism.num_pp_microbatches", "2", "--rank", "3", "--json"})
                              .run();
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_EQ(json_of(outcome).at("ranks").size(), 1U);
}

}  // namespace
}  // namespace titan::cli
