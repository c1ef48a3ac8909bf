#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/data/gzip.hpp"
#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class ProfilerTest : public TrainTest {
 protected:
  fs::path trace_file(int step, int rank = 0, const char* folder = "profiling/traces") const {
    const std::string number = std::to_string(step);
    return dump_folder() / folder / ("step_" + std::string(12 - number.size(), '0') + number) /
           ("rank" + std::to_string(rank) + "_trace.json.gz");
  }
  Json trace(int step, int rank = 0) const {
    std::string text;
    data::gunzip_in_pieces(trace_file(step, rank), [&text](std::string_view piece) { text += piece; });
    return Json::parse(text);
  }
  /// Steps of which there are traces.
  std::set<std::string> traced_steps() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(dump_folder() / "profiling" / "traces")) {
      found.insert(entry.path().filename().string());
    }
    return found;
  }
  static std::set<std::string> names(const Json& trace, const char* phase = "X") {
    std::set<std::string> found;
    for (const Json& event : trace["traceEvents"]) {
      if (event["ph"] == phase) found.insert(event["name"].get<std::string>());
    }
    return found;
  }
  static const Json& first(const Json& trace, const std::string& name) {
    for (const Json& event : trace["traceEvents"]) {
      if (event["ph"] == "X" && event["name"] == name) return event;
    }
    throw std::runtime_error("no event " + name);
  }
};

/// What the viewers rely on: known phases, numbers where numbers belong, and spans of a thread that lie in each other
/// or beside each other.
void expect_valid(const Json& trace) {
  std::map<std::string, std::vector<std::pair<double, double>>> spans;
  for (const Json& event : trace.at("traceEvents")) {
    const std::string phase = event.at("ph");
    ASSERT_NE(std::string("XiCsfM").find(phase), std::string::npos) << event;
    ASSERT_TRUE(event.at("name").is_string()) << event;
    ASSERT_TRUE(event.contains("pid")) << event;
    ASSERT_TRUE(phase == "M" || event.at("ts").is_number()) << event;
    ASSERT_TRUE(!event.contains("args") || event["args"].is_object()) << event;
    if (phase != "X") continue;
    ASSERT_GE(event.at("dur").get<double>(), 0) << event;
    const double begin = event["ts"];
    spans[event["tid"].dump()].emplace_back(begin, begin + event["dur"].get<double>());
  }
  constexpr double kSlack = 1;  // microseconds: Kineto rounds
  for (auto& [thread, list] : spans) {
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    std::vector<double> open;
    for (const auto& [begin, end] : list) {
      while (!open.empty() && open.back() <= begin + kSlack) open.pop_back();
      ASSERT_TRUE(open.empty() || end <= open.back() + kSlack) << "overlap in " << thread;
      open.push_back(end);
    }
  }
}

TEST_F(ProfilerTest, RecordsTheStepsOfItsSchedule) {
  const Outcome outcome = tiny_run({"--profiler.enable_profiling", "--profiler.profile_freq=3",
                                    "--profiler.profiler_warmup=1", "--training.steps=7"})
                              .run();
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(traced_steps(), testing::ElementsAre("step_000000000003", "step_000000000006"));
  EXPECT_THAT(outcome, Says("step 3 first"));
  EXPECT_THAT(outcome, Says("trace of step 6"));
  const Json recorded = trace(6);
  expect_valid(recorded);
  const std::set<std::string> spans = names(recorded);
  for (const char* name : {"ProfilerStep#6", "layers.0", "layers.0.attention.wq", "forward", "backward", "optimizer",
                           "step", "data", "aten::mm"}) {
    EXPECT_TRUE(spans.contains(name)) << name;
  }
  EXPECT_FALSE(spans.contains("ProfilerStep#5"));
  EXPECT_TRUE(names(recorded, "C").contains("memory: tensors"));
  EXPECT_EQ(recorded["distributedInfo"]["rank"], 0);
  EXPECT_EQ(recorded["titan"]["first_step"], 6);
  EXPECT_EQ(recorded["titan"]["mesh"]["tp"], 1);
}

TEST_F(ProfilerTest, ModulesHoldTheirOperatorsAndHaveABackward) {
  ASSERT_THAT(tiny_run({"--profiler.enable_profiling", "--profiler.profile_freq=2", "--profiler.profiler_warmup=0",
                        "--profiler.profiler_active=2", "--training.steps=2", "--activation_checkpoint.mode=full"})
                  .run(),
              ExitsWith(0));
  const Json recorded = trace(2);
  expect_valid(recorded);
  const Json& block = first(recorded, "layers.0");
  const Json& projection = first(recorded, "layers.0.attention.wq");
  EXPECT_EQ(block["tid"], projection["tid"]);
  EXPECT_LE(block["ts"].get<double>(), projection["ts"].get<double>());
  EXPECT_TRUE(names(recorded).contains("layers.0.attention.wq (recomputed)"));
  EXPECT_TRUE(names(recorded).contains("ProfilerStep#1"));
  std::string backward_lane;
  for (const Json& event : recorded["traceEvents"]) {
    if (event["name"] == "thread_name" && event["args"]["name"] == "backward of modules")
      backward_lane = event["tid"].dump();
  }
  ASSERT_FALSE(backward_lane.empty());
  std::set<std::string> backward;
  for (const Json& event : recorded["traceEvents"]) {
    if (event["ph"] == "X" && event["tid"].dump() == backward_lane) backward.insert(event["name"]);
  }
  EXPECT_TRUE(backward.contains("layers.0.feed_forward.w2"));
  EXPECT_TRUE(backward.contains("layers.0"));
  EXPECT_TRUE(backward.contains("output"));
}

TEST_F(ProfilerTest, EachRankHasATraceWithItsCollectives) {
  std::vector<std::string> args{"launch", "--nproc-per-node", "2", "--"};
  for (const std::string& word : tiny_model()) args.push_back(word);
  for (const char* word : {"--profiler.enable_profiling", "--profiler.profile_freq=2", "--profiler.profiler_warmup=1",
                           "--profiler.save_traces_folder=elsewhere", "--training.steps=2"}) {
    args.push_back(word);
  }
  ASSERT_THAT(titan({}).args(args).run(), ExitsWith(0));
  for (int rank = 0; rank < 2; ++rank) {
    std::string text;
    data::gunzip_in_pieces(trace_file(2, rank, "elsewhere"), [&text](std::string_view piece) { text += piece; });
    const Json recorded = Json::parse(text);
    expect_valid(recorded);
    EXPECT_EQ(recorded["distributedInfo"]["rank"], rank);
    EXPECT_EQ(recorded["titan"]["mesh"]["dp_shard"], 2);
    const Json& gather = first(recorded, "_allgather_base");
    EXPECT_EQ(gather["args"]["group"], "fsdp");
    EXPECT_GT(gather["args"]["sequence"], 0);
    EXPECT_GT(gather["args"]["output_bytes"], 0);
    EXPECT_FALSE(gather["args"]["module"].get<std::string>().empty());
  }
}

TEST_F(ProfilerTest, AScheduleWithoutRoomIsRefused) {
  const Outcome outcome = tiny_run({"--profiler.enable_profiling", "--profiler.profile_freq=3"}).run();
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("3 is less than 3 + 1"));
}

TEST_F(ProfilerTest, ARunThatFailsKeepsWhatWasRecorded) {
  const Outcome outcome =
      tiny_run({"--profiler.enable_profiling", "--profiler.profile_freq=2", "--profiler.profiler_warmup=0",
                "--profiler.profiler_active=2", "--optimizer.lr=1e30", "--training.steps=20"})
          .run();
  EXPECT_THAT(outcome, ExitsWith(80));
  EXPECT_FALSE(traced_steps().empty());
}

}  // namespace
}  // namespace titan::cli
