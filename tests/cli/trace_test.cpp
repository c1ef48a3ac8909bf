#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/runner/titan.hpp"
#include "tests/support/vectors.hpp"

namespace titan::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Not;
using ::testing::StartsWith;

/// `titan trace` on what PyTorch wrote.
class TraceTest : public CliTest {
 protected:
  void SetUp() override { TITAN_REQUIRE_VECTORS("debug_samples"); }

  static std::string sample(const fs::path& name) { return testing::vectors_dir() / "debug_samples" / name; }

  Outcome trace(std::initializer_list<std::string> args) const { return titan({"trace"}).args(args).run(); }
};

TEST_F(TraceTest, AnalyseSaysWhoDidNotCome) {
  for (const char* folder : {"fr_nccl_style", "fr_gloo_raw"}) {
    const Outcome outcome = trace({"analyse", sample(folder)});
    ASSERT_THAT(outcome, ExitsWith(0));
    EXPECT_THAT(outcome.out, StartsWith("rank 1 did not reach all_reduce number 4 of default_pg (ranks 0, 1); rank 0 "
                                        "waits there\n"));
    EXPECT_THAT(outcome, Prints("rank 1: its last call there was broadcast number 3 of default_pg, float32 [4, 3], "
                                "complete, by worker at gen_debug_samples.py:29\n"));
    EXPECT_THAT(outcome, Prints("  4       all_reduce float32 [7], scheduled    -\n"));
  }
  EXPECT_EQ(trace({"analyze", sample("fr_nccl_style")}).out, trace({"analyse", sample("fr_nccl_style")}).out);
}

TEST_F(TraceTest, AnalyseTellsScripts) {
  const Outcome outcome = trace({"analyse", sample("fr_nccl_style"), "--json"});
  ASSERT_THAT(outcome, ExitsWith(0));
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["consistent"], false);
  EXPECT_EQ(json["world_size"], 2);
  EXPECT_EQ(json["findings"][0]["problem"], "not_reached");
  EXPECT_EQ(json["findings"][0]["late"], nlohmann::json::array({1}));
  EXPECT_EQ(json["findings"][0]["sequence"], 4);
  EXPECT_EQ(json["ranks"][0]["waits_in"]["op"], "all_reduce");
}

TEST_F(TraceTest, MemoryTakesTheNewestOfAFolder) {
  const auto copy = [&](const char* from, const char* step) {
    const fs::path folder = folder_ / "run/profiling/memory_snapshot" / step;
    fs::create_directories(folder);
    fs::copy_file(sample(from), folder / "rank0_memory_snapshot.pickle");
    return folder / "rank0_memory_snapshot.pickle";
  };
  const fs::path older = copy("memory_snapshot_minimal.pickle", "step_000000000004");
  copy("memory_snapshot_two_devices.pickle", "step_000000000002");
  fs::last_write_time(older, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const Outcome outcome = trace({"memory", "run"});
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome,
              Prints("the newest of 2 snapshots; the one before: run/profiling/memory_snapshot/step_000000000004"));
  EXPECT_THAT(outcome, Prints("step_000000000002/rank0_memory_snapshot.pickle\n"));
  fs::create_directories(folder_ / "empty");
  EXPECT_THAT(trace({"memory", "empty"}), AllOf(ExitsWith(66), Says("no memory snapshot is in the folder: empty")));
}

TEST_F(TraceTest, AnalyseMissesARankAndReportsADamagedDump) {
  fs::create_directories(folder_ / "comm_traces");
  fs::copy_file(sample("fr_nccl_style/rank_0"), folder_ / "comm_traces/rank_0");
  const Outcome missing = trace({"analyse", "."});
  ASSERT_THAT(missing, ExitsWith(0));
  EXPECT_THAT(missing, Prints("rank 1 left no dump"));

  folder_.write("comm_traces/rank_1", "\x80\x02}");
  const Outcome damaged = trace({"analyse", "."});
  EXPECT_THAT(damaged, ExitsWith(65));
  EXPECT_THAT(damaged, Prints("all_reduce number 4"));
  EXPECT_THAT(damaged, Says("rank_1: it ends too early"));
}

TEST_F(TraceTest, AnalyseSaysThatNothingIsWrong) {
  fs::create_directories(folder_ / "d");
  fs::copy_file(sample("fr_nccl_style/rank_1"), folder_ / "d/rank_0");
  fs::copy_file(sample("fr_nccl_style/rank_1"), folder_ / "d/rank_1");
  const Outcome outcome = trace({"analyse", "d"});
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome.out,
              StartsWith("nothing is wrong in these dumps: 2 ranks, 3 collectives match and are complete\n"));
}

TEST_F(TraceTest, AnalyseRefusesWhatIsNotThere) {
  EXPECT_THAT(trace({"analyse"}), ExitsWith(64));
  EXPECT_THAT(trace({"analyse", "absent"}), ExitsWith(66));
  EXPECT_THAT(trace({"analyse", "."}), ExitsWith(66));
  EXPECT_THAT(trace({"analyse", ".", "--prefix", "x_"}), Says("they are named x_0, x_1, ..."));
  EXPECT_THAT(trace({"analyse", ".", "--unknown"}), ExitsWith(64));
  EXPECT_THAT(trace({"unknown"}), ExitsWith(64));
  EXPECT_THAT(trace({"--help"}), Prints("trace analyse"));
}

TEST_F(TraceTest, MemorySummarisesASnapshotAndDrawsIt) {
  const Outcome outcome =
      trace({"memory", sample("memory_snapshot_two_devices.pickle"), "--svg", "memory.svg", "--by", "operator"});
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("device 0: 206 events"));
  EXPECT_THAT(outcome, Prints("device 1: 203 events"));
  EXPECT_THAT(outcome, Prints("peak        43.4 MiB  17 blocks"));
  EXPECT_THAT(outcome, Prints("out of memory at 0.1 s: asked for 1 GiB with 1 MiB free"));
  EXPECT_THAT(read(folder_ / "memory.svg"), StartsWith("<svg xmlns=\"http://www.w3.org/2000/svg\""));
}

TEST_F(TraceTest, MemoryTellsScripts) {
  const Outcome outcome = trace({"memory", sample("memory_snapshot_two_devices.pickle"), "--json", "--top", "2"});
  ASSERT_THAT(outcome, ExitsWith(0));
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["devices"].size(), 2U);
  EXPECT_EQ(json["devices"][0]["events"], 206);
  EXPECT_EQ(json["devices"][0]["peak"]["largest"].size(), 2U);
  EXPECT_GE(json["devices"][0]["peak"]["bytes"], json["devices"][0]["end"]["bytes"]);
  EXPECT_TRUE(json["titan"].is_null());
}

TEST_F(TraceTest, MemoryRefusesWhatIsNoSnapshot) {
  EXPECT_THAT(trace({"memory"}), ExitsWith(64));
  EXPECT_THAT(trace({"memory", "absent.pickle"}), ExitsWith(66));
  const Outcome of_class = trace({"memory", sample("bad/numpy_like_class.pickle")});
  EXPECT_THAT(of_class, ExitsWith(65));
  EXPECT_THAT(of_class, Says("numpy_like_class.pickle"));
  EXPECT_THAT(trace({"memory", sample("fr_nccl_style/rank_0")}), Says("it has no list of segments"));
  EXPECT_THAT(trace({"memory", sample("memory_snapshot_minimal.pickle"), "--top", "0"}), ExitsWith(64));
  EXPECT_THAT(trace({"memory", sample("memory_snapshot_minimal.pickle"), "--by", "color"}),
              Says("kind, module, operator"));
  EXPECT_THAT(trace({"memory", sample("memory_snapshot_minimal.pickle"), "--svg", "absent/x.svg"}), ExitsWith(73));
}

TEST_F(TraceTest, LargeClaimsTakeNoMemory) {
  folder_.write("big.pickle", std::string("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f", 11));
  const Outcome outcome = titan({"trace", "memory", "big.pickle"}).address_space(std::uint64_t{512} << 20U).run();
  EXPECT_THAT(outcome, ExitsWith(65));
  EXPECT_THAT(outcome, Says("a string is too long"));
}

}  // namespace
}  // namespace titan::cli
