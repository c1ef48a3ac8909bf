#include <filesystem>

#include "tests/cli/runner/titan.hpp"
#include "tests/support/vectors.hpp"

namespace titan::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// `titan report` of a run whose files are written here.
class ReportTest : public CliTest {
 protected:
  void write_run() const {
    folder_.write("run/metrics.jsonl",
                  "{\"step\":1,\"loss\":2.5,\"grad_norm\":1.5,\"lr\":0.1,\"tps\":5000}\n"
                  "{\"step\":2,\"loss\":2,\"grad_norm\":1,\"lr\":0.2,\"tps\":5100}\n");
    folder_.write("run/validation.jsonl", "{\"step\":2,\"loss\":2.25}\n");
    folder_.write("run/config.toml", "[training]\nsteps = 2 # <b>\n");
    for (const char* rank : {"0", "1"}) {
      folder_.write(std::string("run/spans/rank_") + rank + ".jsonl", spans(rank));
    }
  }

  static std::string spans(const std::string& rank) {
    return R"({"kind":"run","rank":)" + rank + R"(,"world_size":2,"begin":1780000000,"steps":2,"titan":"0.1.0"}
{"kind":"span","name":"forward","begin":1780000001,"seconds":0.5,"step":2,"micro_batch":1,"stage":)" +
           rank + R"(}
{"kind":"collective","op":"all_reduce","group":"<dp>","module":"layers.0","sequence":4,"bytes":64,"begin":1780000001.1,"seconds":0.1,"step":2,"state":"completed"}
{"kind":"step","step":1,"loss":2.5,"grad_norm":1,"lr":0.1,"step_seconds":1,"data_seconds":0.1,"forward_seconds":0.2,"backward_seconds":0.3,"optimizer_seconds":0.1,"peak_memory_bytes":1000}
{"kind":"step","step":2,"loss":2,"grad_norm":1,"lr":0.1,"step_seconds":1,"data_seconds":0.1,"forward_seconds":0.2,"backward_seconds":0.3,"optimizer_seconds":0.1,"peak_memory_bytes":2000}
{"kind":"event","name":"timeout","time":1780000003,"step":2,"text":"<script>alert(1)</script>"}
)";
  }

  static std::string rank_error(int rank, int code, const std::string& message, const std::string& more = "") {
    return R"({"code":)" + std::to_string(code) + R"(,"message":")" + message + R"(","rank":)" + std::to_string(rank) +
           R"(,"host":"h","pid":1,"time":1780000004,"moment":1,"phase":"in training")" + more + "}";
  }

  static std::string event(const std::string& name, int time, int step, const std::string& text) {
    return R"({"kind":"event","name":")" + name + R"(","time":)" + std::to_string(time) + R"(,"step":)" +
           std::to_string(step) + R"(,"text":")" + text + "\"}\n";
  }

  std::string page() const { return read(folder_ / "run/report.html"); }
};

TEST_F(ReportTest, OnePageHasAllOfIt) {
  write_run();
  const Outcome outcome = titan({"report", "run"}).run();
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_EQ(outcome.out, "wrote run/report.html\n");
  const std::string html = page();
  for (const char* title : {"What the flight recorders say", "Not there"}) {
    EXPECT_THAT(html, Not(HasSubstr(std::string("<h2>") + title + "</h2>")));
  }
  for (const char* title :
       {"Facts", "Training", "Time and memory", "Step 2 across ranks", "Events and failures", "Configuration"}) {
    EXPECT_THAT(html, HasSubstr(std::string("<h2>") + title + "</h2>"));
  }
  EXPECT_EQ(count(html, "<svg"), 9);
  EXPECT_EQ(count(html, "<svg"), count(html, "</svg>"));
  EXPECT_THAT(html, HasSubstr("all_reduce number 4 of &lt;dp&gt;, for layers.0, 64 B, 100 ms, completed"));
}

TEST_F(ReportTest, NothingOfAFileBecomesMarkupAndNothingIsLoaded) {
  write_run();
  folder_.write(
      "run/errors/rank_1.json",
      R"({"code":69,"message":"<img src=x>\nlate","rank":1,"host":"h","pid":1,"time":1780000004,"moment":1,"phase":"in training"})");
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  const std::string html = page();
  for (const char* part : {"<script", "<img", "<b>", "src=\"", "href=\"", "url(", "@import"}) {
    EXPECT_EQ(count(html, part), 0) << part;
  }
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_THAT(html, HasSubstr("Failed: rank 1 first, in training, status 69"));
}

TEST_F(ReportTest, AMessageOfManyLinesStaysOne) {
  write_run();
  folder_.write("run/errors/rank_1.json", rank_error(1, 69, "late\\nrank 0 waits"));
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(page(), HasSubstr("<pre>late\nrank 0 waits</pre>"));
  EXPECT_THAT(page(), HasSubstr("<td class=\"text\">late\nrank 0 waits</td>"));
}

TEST_F(ReportTest, WhoStoppedAsAskedOrQuitDidNotFail) {
  write_run();
  folder_.write("run/spans/rank_0.jsonl", event("stopped", 1780000004, 2, "by SIGTERM"));
  folder_.write("run/errors/rank_0.json", rank_error(0, 75, "stopped"));
  folder_.write("run/errors/rank_1.json", rank_error(1, 130, "asked", R"(,"quit":true)"));
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(page(), AllOf(HasSubstr("<p class=\"ending\">Stopped after step 2</p>\n<pre>by SIGTERM</pre>"),
                            Not(HasSubstr("Failed")), HasSubstr("<td>stopped as asked, status 75</td>"),
                            HasSubstr("<td>quit at a prompt, status 130</td>")));
  folder_.write("run/errors/rank_2.json", rank_error(2, 80, "not finite"));
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(page(), HasSubstr("Failed: rank 2 first, in training, status 80"));
}

TEST_F(ReportTest, TheNewestEndingCounts) {
  folder_.write("run/spans/rank_0.jsonl", event("stopped", 1000, 10, "") + event("out_of_memory", 2000, 12, "no room"));
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(page(),
              HasSubstr("<p class=\"ending bad\">Failed in step 12: rank 0, out of memory</p>\n<pre>no room</pre>"));
  folder_.write("run/spans/rank_0.jsonl", event("timeout", 1000, 10, "late") + event("end", 2000, 12, ""));
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(page(), HasSubstr("<p class=\"ending\">Ended after step 12</p>"));
}

TEST_F(ReportTest, AnEndingBeforeAResumeIsNotTheRuns) {
  folder_.write("run/spans/rank_0.jsonl", event("stopped", 1000, 10, "") +
                                              R"({"kind":"run","rank":0,"world_size":1,"begin":2000,"steps":20})"
                                              "\n");
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(page(), HasSubstr("whether the run ended is not, either"));
}

TEST_F(ReportTest, DumpsAreWhereTheRunWasToldToWriteThem) {
  TITAN_REQUIRE_VECTORS("debug_samples");
  write_run();
  folder_.write("run/config.toml", "[comm]\nsave_traces_folder = \"calls\"\n");
  std::filesystem::copy(testing::vectors_dir() / "debug_samples/fr_nccl_style", folder_ / "run/calls");
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(page(), HasSubstr("rank 1 did not reach all_reduce number 4"));
  EXPECT_THAT(titan({"trace", "analyse", "run"}).run(), Prints("rank 1 did not reach all_reduce number 4"));
}

TEST_F(ReportTest, WhatIsMissingIsSaid) {
  folder_.write("run/metrics.jsonl", "{\"step\":1,\"loss\":2.5}\n{\"st");
  const Outcome outcome = titan({"report", "run", "--output", "page.html"}).run();
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("wrote page.html\n"));
  EXPECT_THAT(outcome, Prints("not in it: 1 line is no JSON object: run/metrics.jsonl\n"));
  EXPECT_THAT(outcome, Prints("not in it: spans of the ranks"));
  EXPECT_THAT(read(folder_ / "page.html"), HasSubstr("<h2>Not there</h2>"));
}

TEST_F(ReportTest, AnEmptySectionSaysWhy) {
  folder_.write("run/config.toml", "[training]\nsteps = 2\n");
  EXPECT_THAT(titan({"report", "run"}).run(), Prints("not in it: metrics.jsonl (a run writes it with"));
  EXPECT_THAT(page(), AllOf(HasSubstr("No step is recorded"), HasSubstr("There are no spans of the ranks"),
                            HasSubstr("None is recorded."), Not(HasSubstr("<svg"))));
  folder_.write("run/spans/rank_0.jsonl", R"({"kind":"run","rank":0,"world_size":1,"begin":1000,"steps":2})"
                                          "\n");
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(page(), AllOf(HasSubstr("No rank finished a step."), HasSubstr("Nothing is recorded of step 0.")));
}

TEST_F(ReportTest, TheStepInWhichARunFailedIsDrawn) {
  write_run();
  folder_.write("run/spans/rank_1.jsonl",
                spans("1") +
                    R"({"kind":"span","name":"data","begin":1780000002,"seconds":0.5,"step":3})"
                    "\n" +
                    event("error", 1780000003, 2, "a peer was lost"));
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(page(), AllOf(HasSubstr("<h2>Step 3 across ranks</h2>"), HasSubstr("data, 500 ms")));
}

TEST_F(ReportTest, ARankThatSaysNothingWhileAnotherLostItIsNamed) {
  write_run();
  folder_.write("run/spans/rank_1.jsonl", R"({"kind":"run","rank":1,"world_size":2,"begin":1780000000,"steps":2})"
                                          "\n");
  folder_.write("run/errors/rank_0.json", rank_error(0, 69, "a connection was lost"));
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(page(), HasSubstr("Failed: rank 1 is gone without a word (killed?); of the others rank 0 first, in "
                                "training, status 69"));
}

TEST_F(ReportTest, StepsWithoutAnUpdateAreCountedAndMarked) {
  write_run();
  for (const char* rank : {"0", "1"}) {
    folder_.write(std::string("run/spans/rank_") + rank + ".jsonl",
                  spans(rank) + event("skipped", 1780000002, 1, "the update is left out: loss nan") +
                      event("skipped", 1780000003, 2, "the update is left out: loss nan"));
  }
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(page(), AllOf(HasSubstr("2 updates, of steps 1, 2"), HasSubstr("step 2: its update was left out"),
                            HasSubstr("the update is left out: loss nan")));
}

TEST_F(ReportTest, WhatTheLauncherSaidComesFirst) {
  write_run();
  const std::string verdict =
      R"({"status":137,"rank":1,"message":"[launch] rank 1 failed first: it was killed by SIGKILL (9)\n[launch] rank 0 )"
      R"(says: <lost>","time":1780000005,"quit":false})";
  folder_.write("run/errors/rank_0.json", rank_error(0, 69, "a connection was lost"));
  folder_.write("run/errors/verdict_node_1.json",
                R"({"status":69,"rank":2,"message":"[launch] rank 2 failed first","time":1,"quit":false})");
  folder_.write("run/errors/verdict.json", verdict);
  EXPECT_THAT(titan({"report", "run"}).run(), AllOf(ExitsWith(0), Not(Prints("no report of a rank"))));
  EXPECT_THAT(page(), HasSubstr("<p class=\"ending bad\">Failed: rank 1 failed first: it was killed by SIGKILL (9), "
                                "status 137</p>\n<pre>rank 0 says: &lt;lost&gt;</pre>"));
}

TEST_F(ReportTest, WhatALauncherSaidOfAnEarlierRunDoesNotCount) {
  write_run();
  folder_.write("run/errors/verdict.json",
                R"({"status":137,"rank":1,"message":"[launch] rank 1 failed first","time":1779999999,"quit":false})");
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(page(), Not(HasSubstr("rank 1 failed first")));
}

TEST_F(ReportTest, WhatCameAfterTheStepDoesNotShrinkIt) {
  write_run();
  folder_.write("run/spans/rank_0.jsonl",
                spans("0") +
                    R"({"kind":"collective","op":"barrier","group":"world","begin":1780000900,"seconds":5,"step":2})"
                    "\n");
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(page(), AllOf(HasSubstr("Left out: collectives that came after these phases, 1 over all ranks."),
                            Not(HasSubstr("barrier"))));
}

TEST_F(ReportTest, FilesOfTheRunAreListed) {
  write_run();
  folder_.write("run/config.toml", "[profiler]\nsave_traces_folder = \"elsewhere\"\n");
  folder_.write("run/elsewhere/step_000000000002/rank0_trace.json.gz", "");
  folder_.write("run/elsewhere/step_000000000004/rank0_trace.json.gz", "");
  folder_.write("run/profiling/memory_snapshot/step_000000000002/rank0_memory_snapshot.pickle", "");
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(page(), AllOf(HasSubstr("<td>2 steps, 1 rank</td>"), HasSubstr("step_000000000004/rank0_trace.json.gz"),
                            HasSubstr("titan trace memory FILE")));
}

TEST_F(ReportTest, GroupsAreTooManyForALegend) {
  write_run();
  std::string rows = spans("0");
  for (int i = 0; i < 100; ++i) {
    rows += R"({"kind":"collective","op":"all_reduce","group":"group_)" + std::to_string(i) +
            R"(","begin":1780000001.1,"seconds":0.1,"step":2,"state":"completed"})"
            "\n";
  }
  folder_.write("run/spans/rank_0.jsonl", rows);
  ASSERT_THAT(titan({"report", "run"}).run(), ExitsWith(0));
  EXPECT_THAT(page(), HasSubstr(">other</text>"));
  EXPECT_THAT(page(), Not(HasSubstr(">group_50</text>")));
}

TEST_F(ReportTest, AStepCanBeAskedFor) {
  write_run();
  ASSERT_THAT(titan({"report", "run", "--step", "1"}).run(), ExitsWith(0));
  EXPECT_THAT(page(), Not(HasSubstr("collectives of step")));
  EXPECT_THAT(titan({"report", "run", "--step", "0"}).run(), ExitsWith(64));
}

TEST_F(ReportTest, AStepThatIsNotThereIsRefusedWithThoseThatAre) {
  write_run();
  const Outcome outcome = titan({"report", "run", "--step", "99999"}).run();
  EXPECT_THAT(outcome, ExitsWith(64));
  EXPECT_THAT(outcome, Says("no such step: 99999: steps that are there: 1, 2"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/report.html"));
}

TEST_F(ReportTest, WhatItReadsIsNotOverwritten) {
  write_run();
  const std::string before = read(folder_ / "run/metrics.jsonl");
  const Outcome outcome = titan({"report", "run", "--output", "run/metrics.jsonl"}).run();
  EXPECT_THAT(outcome, ExitsWith(73));
  EXPECT_THAT(outcome, Says("run/metrics.jsonl"));
  EXPECT_EQ(read(folder_ / "run/metrics.jsonl"), before);
}

TEST_F(ReportTest, RefusesWhatIsNoRun) {
  EXPECT_THAT(titan({"report"}).run(), ExitsWith(64));
  EXPECT_THAT(titan({"report", "absent"}).run(), ExitsWith(66));
  std::filesystem::create_directories(folder_ / "empty");
  const Outcome outcome = titan({"report", "empty"}).run();
  EXPECT_THAT(outcome, ExitsWith(66));
  EXPECT_THAT(outcome, Says("nothing of a run in folder: empty"));
  write_run();
  EXPECT_THAT(titan({"report", "run", "--output", "absent/x.html"}).run(), ExitsWith(73));
}

}  // namespace
}  // namespace titan::cli
