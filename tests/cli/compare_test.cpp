#include <sys/stat.h>

#include <filesystem>

#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

/// Two runs that differ from step 3 on, by 1e-7.
class CompareTest : public CliTest {
 protected:
  CompareTest() {
    folder_.write("fsdp/metrics.jsonl", rows({"8.25", "8.125", "7.5", "7.25"}));
    folder_.write("ddp/metrics.jsonl", rows({"8.25", "8.125", "7.50000075", "7.25"}));
    folder_.write("fsdp/config.toml", "[parallelism]\ndata_parallel_shard_degree = 2\n");
    folder_.write("ddp/config.toml", "dump_folder = \"ddp\"\n[parallelism]\ndata_parallel_shard_degree = 1\n");
  }

  static std::string rows(const std::vector<std::string>& losses) {
    std::string text;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      text +=
          "{\"step\": " + std::to_string(i + 1) + ", \"loss\": " + losses[i] + ", \"grad_norm\": 1.5, \"tps\": 7}\n";
    }
    return text;
  }

  Outcome compare(std::initializer_list<std::string> args) const { return titan({"compare"}).args(args).run(); }
};

TEST_F(CompareTest, ARunIsEqualToItself) {
  const Outcome outcome = compare({"fsdp", "fsdp/metrics.jsonl"});
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("equal: 4 steps"));
  EXPECT_EQ(outcome.err, "");
}

TEST_F(CompareTest, TheFirstDifferenceIsNamed) {
  const Outcome outcome = compare({"fsdp", "ddp"});
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Prints("first differing step 3: loss 7.5 vs 7.50000075 (relative 1.0e-07)"));
  EXPECT_THAT(outcome, Prints("parallelism.data_parallel_shard_degree: 2 | 1"));
  EXPECT_THAT(outcome, Says("[compare] the runs differ: fsdp, ddp: first differing step 3"));
  EXPECT_EQ(outcome.out.find("dump_folder"), std::string::npos) << "where files go changes no number";
}

TEST_F(CompareTest, ToleranceAndStepsAreLimits) {
  EXPECT_THAT(compare({"fsdp", "ddp", "--tolerance", "1e-6"}), ExitsWith(0));
  EXPECT_THAT(compare({"fsdp", "ddp", "--tolerance", "1e-8"}), ExitsWith(1));
  EXPECT_THAT(compare({"fsdp", "ddp", "--steps", "2"}), ExitsWith(0));
  EXPECT_THAT(compare({"fsdp", "ddp", "--columns", "grad_norm,tps"}), ExitsWith(0));
}

TEST_F(CompareTest, ReferencesAreStoredAndRead) {
  EXPECT_THAT(compare({"fsdp", "--export", "ref.json"}), ExitsWith(0));
  EXPECT_THAT(compare({"fsdp", "--import", "ref.json"}), ExitsWith(0));
  const Outcome outcome = compare({"ddp", "--import", "ref.json"});
  EXPECT_THAT(outcome, ExitsWith(1));
  EXPECT_THAT(outcome, Prints("parallelism.data_parallel_shard_degree: 1 | 2")) << "the reference knows its settings";
  EXPECT_THAT(compare({"fsdp", "fsdp", "--import", "ref.json"}), ExitsWith(0));
  EXPECT_THAT(compare({"fsdp", "ddp", "--import", "ref.json"}), ExitsWith(1));
}

TEST_F(CompareTest, RunsThatDifferAreNotStored) {
  EXPECT_THAT(compare({"fsdp", "ddp", "--export", "ref.json"}), ExitsWith(1));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "ref.json"));
  EXPECT_THAT(compare({"fsdp", "ddp", "--steps", "2", "--export", "ref.json"}), ExitsWith(0));
  EXPECT_NE(read(folder_ / "ref.json").find("[2, 8.125, 1.5]"), std::string::npos);
  EXPECT_EQ(read(folder_ / "ref.json").find("[3,"), std::string::npos);
}

TEST_F(CompareTest, TorchtitansLossFilesAreReferences) {
  folder_.write("golden.txt", "1 8.25\n2 8.125\n3 7.5\n4 7.25\n");
  const Outcome outcome = compare({"fsdp", "--import", "golden.txt"});
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("not compared: grad_norm, which is not in golden.txt"));
  EXPECT_THAT(compare({"ddp", "--import", "golden.txt"}), ExitsWith(1));
}

TEST_F(CompareTest, ErrorsKeepTheirStatus) {
  EXPECT_THAT(compare({"fsdp"}), ExitsWith(64));
  EXPECT_THAT(compare({"fsdp", "ddp", "--tolerance", "x"}), ExitsWith(64));
  EXPECT_THAT(compare({"fsdp", "gone"}), ExitsWith(66));
  const Outcome no_column = compare({"fsdp", "ddp", "--columns", "los"});
  EXPECT_THAT(no_column, ExitsWith(65));
  EXPECT_THAT(no_column, Says("no such column: los, in fsdp/metrics.jsonl: it has grad_norm, loss, tps"));
  folder_.write("broken.jsonl", rows({"1", "2"}) + "{\"step\": 3, ");
  const Outcome broken = compare({"fsdp", "broken.jsonl"});
  EXPECT_THAT(broken, ExitsWith(65));
  EXPECT_THAT(broken, Says("broken.jsonl:3:"));
  folder_.write("late.jsonl", "{\"step\": 100, \"loss\": 1, \"grad_norm\": 1}\n");
  const Outcome late = compare({"fsdp", "late.jsonl"});
  EXPECT_THAT(late, ExitsWith(65));
  EXPECT_THAT(late, Says("no step in common: fsdp has steps 1 to 4, late.jsonl has steps 100 to 100"));
  EXPECT_THAT(compare({"fsdp", "--export", "no/such/folder/ref.json"}), ExitsWith(73));
}

class CompareRunsTest : public TrainTest {};

TEST_F(CompareRunsTest, TwoRunsOfOneSeedAreEqual) {
  const auto train = [&](const std::string& folder, const std::string& seed) {
    return tiny_run({"--dump_folder", folder, "--debug.seed", seed, "--metrics.log_freq", "1"}).run();
  };
  ASSERT_THAT(train("a", "1"), ExitsWith(0));
  ASSERT_THAT(train("b", "1"), ExitsWith(0));
  ASSERT_THAT(train("c", "2"), ExitsWith(0));
  const Outcome equal = titan({"compare", "a", "b"}).run();
  EXPECT_THAT(equal, ExitsWith(0));
  EXPECT_THAT(equal, Prints("equal: 3 steps"));
  const Outcome differ = titan({"compare", "a", "c"}).run();
  EXPECT_THAT(differ, ExitsWith(1));
  EXPECT_THAT(differ, Prints("debug.seed: 1 | 2"));
  EXPECT_THAT(differ, Prints("first differing step 1: "));
}

TEST_F(CompareTest, ARunsOwnFileIsNotOverwritten) {
  const std::string before = read(folder_ / "fsdp/metrics.jsonl");
  const Outcome outcome = compare({"fsdp", "--export", "fsdp/metrics.jsonl"});
  EXPECT_THAT(outcome, ExitsWith(73));
  EXPECT_THAT(outcome, Says("no stored reference"));
  EXPECT_EQ(read(folder_ / "fsdp/metrics.jsonl"), before);
}

TEST_F(CompareTest, AStoredReferenceIsReplaced) {
  EXPECT_THAT(compare({"fsdp", "--export", "ref.json"}), ExitsWith(0));
  EXPECT_THAT(compare({"ddp", "--export", "ref.json"}), ExitsWith(0));
  EXPECT_THAT(compare({"ddp", "--import", "ref.json"}), ExitsWith(0));
}

TEST_F(CompareTest, APipeIsNotReplacedByAFile) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(compare({"fsdp", "--export", "pipe"}), ExitsWith(73));
  EXPECT_TRUE(std::filesystem::is_fifo(folder_ / "pipe"));
}

}  // namespace
}  // namespace titan::cli
