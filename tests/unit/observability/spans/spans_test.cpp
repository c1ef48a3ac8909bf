#include "plugins/observability/spans/spans.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/sdk/fake_host.hpp"

namespace titan::observability {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::ElementsAre;

titan_string text(const char* from) { return {from, std::string_view(from).size()}; }

class SpansTest : public testing::Test {
 protected:
  SpansTest() {
    host_.declare("dump_folder", TITAN_OPTION_PATH, folder_.path().string());
    host_.declare("training.steps", TITAN_OPTION_INT, "5");
    host_.declare("debug.enable_structured_logging", TITAN_OPTION_BOOL, "true");
  }

  fs::path path() const { return folder_.path() / "spans" / "rank_0.jsonl"; }
  std::vector<json> rows() const {
    std::vector<json> found;
    std::ifstream file(path());
    for (std::string line; std::getline(file, line);) found.push_back(json::parse(line));
    return found;
  }
  /// "kind name" of each row.
  std::vector<std::string> kinds() const {
    std::vector<std::string> found;
    for (const json& row : rows()) {
      found.push_back(row["kind"].get<std::string>() +
                      (row.contains("name") ? ' ' + row["name"].get<std::string>() : ""));
    }
    return found;
  }
  static titan_run_event run(std::int64_t first_step = 1) {
    titan_run_event event{};
    event.struct_size = sizeof event;
    event.first_step = first_step;
    event.last_step = 5;
    return event;
  }
  static void phase(Spans& spans, std::int32_t number, bool is_end, std::int64_t step, double time = 1) {
    titan_span_event event{};
    event.struct_size = sizeof event;
    event.phase = number;
    event.is_end = is_end ? 1 : 0;
    event.micro_batch = number == TITAN_IN_FORWARD ? 2 : -1;
    event.step = step;
    event.stage = 1;
    event.time = time;
    spans.span(event);
  }
  static titan_step_event step(std::int64_t number) {
    titan_step_event event{};
    event.struct_size = sizeof event;
    event.step = number;
    event.loss = 2;
    event.peak_memory = 77;
    return event;
  }
  static titan_run_end_event end(std::int32_t code, const char* message) {
    titan_run_end_event event{};
    event.struct_size = sizeof event;
    event.code = code;
    event.step = 1;
    event.message = text(message);
    return event;
  }
  static titan_dump_event dump_event(std::int32_t cause) {
    titan_dump_event event{};
    event.struct_size = sizeof event;
    event.cause = cause;
    event.reason = text("all_reduce was not joined");
    event.place = text("step 1, forward");
    return event;
  }

  test::TemporaryFolder folder_;
  test::FakeHost host_;
};

TEST_F(SpansTest, IsOffWhenItIsSwitchedOff) {
  EXPECT_NE(Spans::make(sdk::Host(host_.table())), nullptr);
  host_.set("debug.enable_structured_logging", "false");
  EXPECT_EQ(Spans::make(sdk::Host(host_.table())), nullptr);
}

TEST_F(SpansTest, PhasesStandInTheOrderOfTheirEnds) {
  Spans spans{sdk::Host(host_.table())};
  phase(spans, TITAN_IN_BUILD, false, 0, 10);
  phase(spans, TITAN_IN_BUILD, true, 0, 11);
  spans.run_begin(run());
  phase(spans, TITAN_IN_STEP, false, 1, 20);
  phase(spans, TITAN_IN_FORWARD, false, 1, 21);
  phase(spans, TITAN_IN_FORWARD, true, 1, 22.5);
  phase(spans, TITAN_IN_STEP, true, 1, 24);
  spans.step_end(step(1));
  spans.run_end(end(0, ""));
  ASSERT_THAT(kinds(), ElementsAre("run", "span build", "span forward", "span step", "step", "event end"));
  const std::vector<json> all = rows();
  EXPECT_EQ(all[0]["rank"], 0);
  EXPECT_EQ(all[0]["steps"], 5);
  EXPECT_DOUBLE_EQ(all[2]["seconds"].get<double>(), 1.5);
  EXPECT_DOUBLE_EQ(all[2]["begin"].get<double>() - all[3]["begin"].get<double>(), 1);
  EXPECT_EQ(all[2]["micro_batch"], 2);
  EXPECT_EQ(all[2]["stage"], 1);
  EXPECT_TRUE(all[3]["micro_batch"].is_null());
  EXPECT_EQ(all[4]["loss"], 2);
  EXPECT_EQ(all[4]["peak_memory_bytes"], 77);
}

TEST_F(SpansTest, AStepWithoutAnUpdateIsAnEvent) {
  Spans spans{sdk::Host(host_.table())};
  spans.run_begin(run());
  spans.left_out(1, "a spike");
  spans.step_end(step(1));
  titan_step_event broken = step(2);
  broken.loss = std::numeric_limits<double>::quiet_NaN();
  spans.step_end(broken);
  spans.step_end(step(3));
  spans.run_end(end(0, ""));
  ASSERT_THAT(kinds(), ElementsAre("run", "step", "event skipped", "step", "event skipped", "step", "event end"));
  EXPECT_EQ(rows()[2]["step"], 1);
  EXPECT_EQ(rows()[2]["text"], "the update is left out: a spike");
  EXPECT_TRUE(rows()[3]["loss"].is_null());
  EXPECT_EQ(rows()[4]["step"], 2);
  EXPECT_EQ(rows()[4]["text"], "the update is left out: loss or gradient norm is not finite");
}

TEST_F(SpansTest, AFailureBelongsToTheStepThatItEnds) {
  const std::pair<int, int> steps[] = {
      {TITAN_ERROR_NON_FINITE, 2}, {TITAN_ERROR_UNAVAILABLE, 2}, {TITAN_ERROR_STOPPED, 1}, {0, 1}};
  for (const auto& [code, wanted] : steps) {
    Spans spans{sdk::Host(host_.table())};
    spans.run_begin(run());
    phase(spans, TITAN_IN_STEP, false, 2);
    spans.run_end(end(code, "why"));
    EXPECT_EQ(rows().back()["step"], wanted) << code;
  }
}

TEST_F(SpansTest, MemoryThatRunsOutBeforeTheRunBeginsIsNamed) {
  {
    Spans spans{sdk::Host(host_.table())};
    titan_dump_event event = dump_event(TITAN_DUMP_ERROR);
    event.reason = text("[memory] out of memory: requested 8 bytes in init");
    spans.dump(event);
  }
  EXPECT_EQ(rows().back()["name"], "out_of_memory");
}

TEST_F(SpansTest, CollectivesNameTheirStep) {
  Spans spans{sdk::Host(host_.table())};
  phase(spans, TITAN_IN_STEP, false, 4);
  titan_collective_event event{};
  event.struct_size = sizeof event;
  event.state = TITAN_COLLECTIVE_FAILED;
  event.op = text("all_reduce");
  event.group = text("fsdp");
  event.module = text("layers.0");
  event.sequence = 9;
  event.output_bytes = 64;
  spans.collective(event);
  spans.run_end(end(TITAN_ERROR_UNAVAILABLE, "lost"));
  const json row = rows().at(1);
  EXPECT_EQ(row["kind"], "collective");
  EXPECT_EQ(row["op"], "all_reduce");
  EXPECT_EQ(row["module"], "layers.0");
  EXPECT_EQ(row["step"], 4);
  EXPECT_EQ(row["sequence"], 9);
  EXPECT_EQ(row["bytes"], 64);
  EXPECT_EQ(row["state"], "failed");
  EXPECT_TRUE(row["seconds"].is_null());
}

TEST_F(SpansTest, ADumpWritesWhatIsOpenForTheCaseThatTheProcessEnds) {
  Spans spans{sdk::Host(host_.table())};
  spans.run_begin(run());
  phase(spans, TITAN_IN_STEP, false, 1);
  phase(spans, TITAN_IN_FORWARD, false, 1);
  spans.dump(dump_event(TITAN_DUMP_TIMEOUT));
  ASSERT_THAT(kinds(), ElementsAre("run", "event timeout", "span forward", "span step"));
  EXPECT_EQ(rows().at(1)["text"], "all_reduce was not joined (step 1, forward)");
}

TEST_F(SpansTest, WhereItGoesOnThePhasesEndWhenTheyDo) {
  Spans spans{sdk::Host(host_.table())};
  spans.run_begin(run());
  phase(spans, TITAN_IN_STEP, false, 1);
  spans.dump(dump_event(TITAN_DUMP_TIMEOUT));
  phase(spans, TITAN_IN_STEP, true, 1, 5);
  spans.run_end(end(TITAN_ERROR_RESOURCE, "no memory"));
  ASSERT_THAT(kinds(), ElementsAre("run", "event timeout", "span step", "event out_of_memory"));
  EXPECT_DOUBLE_EQ(rows().at(2)["seconds"].get<double>(), 4);
}

TEST_F(SpansTest, ADumpBeforeTheRunBeginsLeavesTheFormerRunAlone) {
  {
    Spans spans{sdk::Host(host_.table())};
    spans.run_begin(run());
    for (std::int64_t number = 1; number <= 3; ++number) spans.step_end(step(number));
  }
  Spans spans{sdk::Host(host_.table())};
  spans.dump(dump_event(TITAN_DUMP_REQUEST));
  EXPECT_THAT(kinds(), ElementsAre("run", "step", "step", "step"));
  spans.run_begin(run(3));
  EXPECT_THAT(kinds(), ElementsAre("run", "step", "step", "run", "event dump"));
}

TEST_F(SpansTest, AnErrorIsToldOnce) {
  Spans spans{sdk::Host(host_.table())};
  spans.run_begin(run());
  spans.run_end(end(TITAN_ERROR_NON_FINITE, "the loss is nan"));
  spans.dump(dump_event(TITAN_DUMP_ERROR));
  EXPECT_THAT(kinds(), ElementsAre("run", "event non_finite"));
}

TEST_F(SpansTest, AStopIsNoError) {
  Spans spans{sdk::Host(host_.table())};
  spans.run_begin(run());
  spans.dump(dump_event(TITAN_DUMP_STOP));
  spans.run_end(end(TITAN_ERROR_QUIT, "quit at the breakpoint"));
  spans.dump(dump_event(TITAN_DUMP_STOP));
  EXPECT_THAT(kinds(), ElementsAre("run", "event stopped", "event stopped"));
}

TEST_F(SpansTest, ADumpOnRequestClosesNothing) {
  Spans spans{sdk::Host(host_.table())};
  spans.run_begin(run());
  phase(spans, TITAN_IN_STEP, false, 1);
  spans.dump(dump_event(TITAN_DUMP_REQUEST));
  EXPECT_THAT(kinds(), ElementsAre("run", "event dump"));
  phase(spans, TITAN_IN_STEP, true, 1);
  spans.run_end(end(0, ""));
  EXPECT_THAT(kinds(), ElementsAre("run", "event dump", "span step", "event end"));
}

TEST_F(SpansTest, ARunThatNeverBeginsKeepsItsRows) {
  {
    Spans spans{sdk::Host(host_.table())};
    phase(spans, TITAN_IN_LOAD, false, 0);
    phase(spans, TITAN_IN_LOAD, true, 0);
  }
  EXPECT_THAT(kinds(), ElementsAre("run", "span load"));
}

TEST_F(SpansTest, AnInstanceThatNeverRunsWritesNothing) {
  { Spans spans{sdk::Host(host_.table())}; }
  EXPECT_FALSE(fs::exists(path().parent_path()));
}

TEST_F(SpansTest, AResumedRunForgetsTheStepsItRepeats) {
  {
    Spans spans{sdk::Host(host_.table())};
    spans.run_begin(run());
    for (std::int64_t number = 1; number <= 3; ++number) spans.step_end(step(number));
  }
  Spans spans{sdk::Host(host_.table())};
  spans.run_begin(run(3));
  spans.step_end(step(3));
  spans.run_end(end(0, ""));
  EXPECT_THAT(kinds(), ElementsAre("run", "step", "step", "run", "step", "event end"));
}

TEST_F(SpansTest, AFreshRunMovesAnOldFileAside) {
  for (int i = 0; i < 2; ++i) {
    Spans spans{sdk::Host(host_.table())};
    spans.run_begin(run());
    spans.run_end(end(0, ""));
  }
  EXPECT_THAT(kinds(), ElementsAre("run", "event end"));
  EXPECT_TRUE(fs::exists(folder_.path() / "spans" / "rank_0.1.jsonl"));
}

TEST_F(SpansTest, WhereItCannotWriteItSaysSoOnceAndTheRunGoesOn) {
  std::ofstream(folder_.path() / "spans") << "a file where the folder should be";
  Spans spans{sdk::Host(host_.table())};
  spans.run_begin(run());
  for (std::int64_t number = 1; number <= 3; ++number) spans.step_end(step(number));
  spans.run_end(end(0, ""));
  int warnings = 0;
  for (const std::string& line : host_.log()) warnings += line.find("no more rows go to") != std::string::npos ? 1 : 0;
  EXPECT_EQ(warnings, 1);
}

TEST_F(SpansTest, AFolderThatIsALinkIsLeftAlone) {
  fs::create_directory(folder_.path() / "elsewhere");
  fs::create_directory_symlink(folder_.path() / "elsewhere", folder_.path() / "spans");
  Spans{sdk::Host(host_.table())}.run_begin(run());
  EXPECT_TRUE(fs::is_empty(folder_.path() / "elsewhere"));
  EXPECT_THAT(host_.log(), ElementsAre(testing::HasSubstr("a link is no folder to write to")));
}

}  // namespace
}  // namespace titan::observability
