#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/cli/runner/pseudo_terminal.hpp"
#include "tests/faults/ranks.hpp"

namespace titan::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kQuit = 130;

/// A run in a terminal, into which somebody breaks.
class Breakpoint : public RanksTest {
 protected:
  /// The tiny model for a few steps; the first step waits for as long as joining may take.
  std::vector<std::string> run_of(std::initializer_list<std::string> words) const {
    std::vector<std::string> out = run({"--training.steps=4"});
    out.insert(out.end(), words.begin(), words.end());
    return out;
  }
  Command in_terminal(Command command) const { return command.terminal(terminal_.device()).limit(300); }
  /// Two ranks, with a prompt at `place`.
  Command two_ranks(const std::string& place, std::initializer_list<std::string> words = {}) const {
    std::vector<std::string> all = run_of({"--debug.break_at", place});
    all.insert(all.end(), words.begin(), words.end());
    return in_terminal(launch(2, all));
  }
  void answer(const std::string& command) { terminal_.type(command + '\n'); }
  /// Waits for the prompt and its ranks' processes.
  void expect_prompt(const Process& launcher, int rank, int num_ranks = 2) {
    ASSERT_TRUE(terminal_.wait_for("rank " + std::to_string(rank) + "> ")) << terminal_.shown();
    if (num_ranks == 1) processes_ = {launcher.pid()};
    for (int i = 0; num_ranks > 1 && i < num_ranks; ++i) processes_.push_back(pid_of_rank(launcher.pid(), i));
  }
  /// Waits for the end: with that status, and nobody left behind.
  void expect_end(Process& process, int status) {
    const Outcome outcome = process.wait();
    EXPECT_EQ(outcome.status, status) << terminal_.shown();
    EXPECT_FALSE(outcome.was_too_slow) << terminal_.shown();
    for (const pid_t pid : processes_) EXPECT_FALSE(is_alive(pid)) << pid << terminal_.shown();
  }

  PseudoTerminal terminal_;
  std::vector<pid_t> processes_;
};

TEST_F(Breakpoint, GoesOn) {
  Process process = two_ranks("rank=1,step=2,module=layers.0").start();
  expect_prompt(process, 1);
  answer("continue");
  expect_end(process, 0);
  EXPECT_THAT(terminal_.shown(),
              AllOf(HasSubstr("*** breakpoint: rank 1 (step 2, micro-batch 0, forward, entering layers.0)"),
                    HasSubstr("gdb -p " + std::to_string(processes_.at(1))), HasSubstr("the other ranks wait")));
}

/// Keys that end the run.
struct Ending {
  const char* name;
  std::string_view keys;
};

class BreakpointEnding : public Breakpoint, public testing::WithParamInterface<Ending> {};

TEST_P(BreakpointEnding, EndsAllRanksAndSaysThatItWasNoFailure) {
  Process process = two_ranks("rank=1,step=2,module=layers.0").start();
  expect_prompt(process, 1);
  terminal_.type(GetParam().keys);
  expect_end(process, kQuit);
  EXPECT_THAT(terminal_.shown(),
              AllOf(HasSubstr("ending the run on all ranks"),
                    HasSubstr("the run was ended by hand: rank 1 was quit at a breakpoint; that is no failure"),
                    HasSubstr("quit at the breakpoint on rank 1 (step 2"), Not(HasSubstr("failed first"))));
  EXPECT_THAT(terminal_.shown(), AllOf(HasSubstr("(stop, step 2"), Not(HasSubstr("(error, step")))) << "of the dumps";
}

TEST_P(BreakpointEnding, EndsOneRankAlone) {
  Process process = in_terminal(titan({})).args(run_of({"--debug.break_at", "module=layers.0"})).start();
  expect_prompt(process, 0, 1);
  terminal_.type(GetParam().keys);
  expect_end(process, kQuit);
  EXPECT_THAT(terminal_.shown(), HasSubstr("quit at the breakpoint on rank 0 (step 1"));
}

INSTANTIATE_TEST_SUITE_P(All, BreakpointEnding,
                         testing::Values(Ending{"Quit", "quit\n"}, Ending{"EndOfInput", PseudoTerminal::kCtrlD},
                                         Ending{"CtrlC", PseudoTerminal::kCtrlC}),
                         [](const auto& of) { return std::string(of.param.name); });

/// Whether programs that the process starts get what that variable's number stands for.
bool is_passed_on(pid_t pid, const std::string& variable) {
  std::istringstream fields(read("/proc/" + std::to_string(pid) + "/fdinfo/" + variable_of(pid, variable).value()));
  for (std::string name, value; fields >> name >> value;) {
    if (name == "flags:") return (std::stoul(value, nullptr, 8) & O_CLOEXEC) == 0;
  }
  throw std::runtime_error("not open: " + variable);
}

TEST_F(Breakpoint, TheLaunchersTerminalIsForRanksAlone) {
  Process process = two_ranks("rank=1,step=2").env("LOG_RANK", "1").start();
  expect_prompt(process, 1);
  EXPECT_FALSE(is_passed_on(processes_.at(1), "TITAN_INPUT_FD"));
  EXPECT_FALSE(is_passed_on(processes_.at(0), "TITAN_NOTICE_FD"));
  answer("quit");
  expect_end(process, kQuit);
}

TEST_F(Breakpoint, CtrlZStopsNobody) {
  Process process = two_ranks("rank=1,step=2").start();
  expect_prompt(process, 1);
  terminal_.type(PseudoTerminal::kCtrlZ);
  answer("continue");
  expect_end(process, 0);
}

TEST_F(Breakpoint, OthersWaitLongerThanTheirDeadline) {
  Process process = two_ranks("rank=1,step=3,module=layers.0", {"--comm.train_timeout_seconds=3"}).start();
  expect_prompt(process, 1);
  std::this_thread::sleep_for(std::chrono::seconds(10));
  answer("continue");
  expect_end(process, 0);
}

TEST_F(Breakpoint, StepBreaksAgainWhereTheNextStepBegins) {
  Process process = two_ranks("rank=1,step=2,module=layers.0").start();
  expect_prompt(process, 1);
  answer("step");
  ASSERT_TRUE(terminal_.wait_for("*** breakpoint: rank 1 (step 3, where the step begins)")) << terminal_.shown();
  ASSERT_TRUE(terminal_.wait_for("rank 1> "));
  answer("continue");
  expect_end(process, 0);
}

/// A command, and what its answer holds, in that order.
struct Exchange {
  const char* command;
  std::vector<const char*> texts;
};

TEST_F(Breakpoint, ShowsTheModelItsNumbersAndGradients) {
  Process process = two_ranks("rank=1,step=2,module=layers.0.attention,phase=backward").start();
  expect_prompt(process, 1);
  const std::vector<Exchange> exchanges = {
      {"where",
       {"rank         1 of 2", "step         2", "backward", "module       layers.0.attention",
        "grad_output: bfloat16 [2, 64, 32]"}},
      {"module", {"layers.0.attention.wq  (titan.linear)", "weight: float32 [16, 32], this rank's part [16:32, 0:32]"}},
      {"stats", {"grad_output: bfloat16 [2, 64, 32]", "min ", "NaN 0"}},
      {"stats wq.weight",
       {"layers.0.attention.wq.weight: float32", "this rank's part [16:32, 0:32] of [32, 32]", "norm"}},
      {"stats layers.0.attention.wq.weight.exp_avg", {"exp_avg: float32", "this rank's part"}},
      {"print norm.weight [:2]", {"norm.weight[:2]: float32", "["}},
      {"print grad_output [0, 0, :3]", {"grad_output[0, 0, :3]", "["}},
      {"grad layers.0.feed_forward.w1.weight", {"gradient of layers.0.feed_forward.w1.weight:", "zeros"}},
      {"grad wq.weight", {"no gradient yet: layers.0.attention.wq.weight"}},
      {"stats layers.0.attention.wq.wieght", {"did you mean layers.0.attention.wq.weight"}},
      {"stast x", {"did you mean stats?"}},
      {"print norm.weight [99]", {"index 99 is out of range"}},
      {"module nothing", {"no module is called \"nothing\""}},
      {"help", {"end the run on all ranks"}}};
  for (const Exchange& exchange : exchanges) {
    answer(exchange.command);
    for (const char* text : exchange.texts) {
      ASSERT_TRUE(terminal_.wait_for(text)) << exchange.command << ": " << text << '\n' << terminal_.shown();
    }
  }
  answer("continue");
  expect_end(process, 0);
}

TEST_F(Breakpoint, TwoRanksAtATimeTakeTurns) {
  Process process = two_ranks("rank=0,step=2; rank=1,step=2").start();
  ASSERT_TRUE(terminal_.wait_for("> ")) << terminal_.shown();
  answer("continue");
  ASSERT_TRUE(terminal_.wait_for("*** breakpoint: ")) << terminal_.shown();
  ASSERT_TRUE(terminal_.wait_for("> ")) << terminal_.shown();
  answer("continue");
  expect_end(process, 0);
  EXPECT_THAT(terminal_.shown(), AllOf(HasSubstr("*** breakpoint: rank 0"), HasSubstr("*** breakpoint: rank 1")));
}

TEST_F(Breakpoint, OfTwoRanksAtATimeOneThatQuitsEndsBoth) {
  Process process = two_ranks("rank=0,step=2; rank=1,step=2").start();
  ASSERT_TRUE(terminal_.wait_for("> ")) << terminal_.shown();
  answer("quit");
  expect_end(process, kQuit);
  const std::string shown = terminal_.shown();
  EXPECT_EQ(shown.find("*** breakpoint: "), shown.rfind("*** breakpoint: ")) << "of the second: " << shown;
}

TEST_F(Breakpoint, ASignalToTheLauncherEndsThePrompt) {
  Process process = two_ranks("rank=1,step=2").start();
  expect_prompt(process, 1);
  process.signal(SIGTERM);
  expect_end(process, 128 + SIGTERM);
}

TEST_F(Breakpoint, OfARankThatDiesThereTheOthersHear) {
  Process process = two_ranks("rank=1,step=2").start();
  expect_prompt(process, 1);
  ::kill(processes_.at(1), SIGKILL);
  expect_end(process, 128 + SIGKILL);
}

TEST_F(Breakpoint, OfADeadPeerSomebodyAtThePromptHearsAtOnce) {
  Process process = two_ranks("rank=0,step=2").start();
  expect_prompt(process, 0);
  ::kill(processes_.at(1), SIGKILL);
  ASSERT_TRUE(terminal_.wait_for("[launch]: rank 1 was killed by SIGKILL")) << terminal_.shown();
  ASSERT_TRUE(terminal_.wait_for("the other ranks have 30 s to leave by themselves")) << terminal_.shown();
  EXPECT_TRUE(is_alive(processes_.at(0))) << "the prompt goes on meanwhile";
  answer("quit");
  expect_end(process, 128 + SIGKILL);
}

TEST_F(Breakpoint, OfARankThatIsNotShownIsPassedOverAndSaysSo) {
  Process process = two_ranks("rank=1,step=2").env("LOG_RANK", "0").start();
  expect_end(process, 0);
  EXPECT_THAT(terminal_.shown(), AllOf(HasSubstr("[rank1]: [breakpoint] passed over: rank 1 (step 2"),
                                       HasSubstr("LOG_RANK=1"), HasSubstr("gdb -p")));
}

TEST_F(Breakpoint, OfARankThatIsShownAloneWorks) {
  Process process = two_ranks("rank=1,step=2").env("LOG_RANK", "1").start();
  expect_prompt(process, 1);
  answer("continue");
  expect_end(process, 0);
  EXPECT_THAT(terminal_.shown(), Not(HasSubstr("[rank0]")));
}

TEST_F(Breakpoint, WithoutSomebodyToAskIsPassedOver) {
  const std::vector<std::string> all = run_of({"--debug.break_at", "rank=1,step=2"});
  const Outcome plain = launch(2, all).run();
  EXPECT_THAT(plain, ExitsWith(0));
  EXPECT_THAT(plain.out + plain.err, AllOf(HasSubstr("passed over: rank 1 (step 2"), HasSubstr("neither a terminal"),
                                           HasSubstr("start the run in a terminal")));
  const Outcome closed = launch(2, all).input("").run();
  EXPECT_THAT(closed, ExitsWith(0));
  EXPECT_THAT(closed.out + closed.err, HasSubstr("passed over: rank 1"));
}

TEST_F(Breakpoint, WithClosedInputInATerminalIsPassedOver) {
  Process process = two_ranks("rank=1,step=2").input("").start();
  expect_end(process, 0);
  EXPECT_THAT(terminal_.shown(), HasSubstr("passed over: rank 1 (step 2"));
}

TEST_F(Breakpoint, CommandsComeFromAPipe) {
  const std::string commands = folder_.write("commands", "where\nstats output.weight\nstep\nquit\n");
  const std::vector<std::string> all = run_of({"--debug.break_at", "rank=1,step=2"});
  const Outcome outcome = launch(2, all).input(commands).run();
  EXPECT_THAT(outcome, ExitsWith(kQuit));
  EXPECT_THAT(outcome, Prints("rank 1> where"));
  EXPECT_THAT(outcome, Prints("output.weight: float32"));
  EXPECT_THAT(outcome, Prints("*** breakpoint: rank 1 (step 3, where the step begins)"));
}

TEST_F(Breakpoint, AScriptThatEndsEndsTheRun) {
  const std::string commands = folder_.write("commands", "where\n");
  const Outcome outcome = titan({}).args(run_of({"--debug.break_at", "step=2"})).input(commands).run();
  EXPECT_THAT(outcome, ExitsWith(kQuit));
  EXPECT_THAT(outcome, Prints("rank         0 of 1"));
}

TEST_F(Breakpoint, AnEmptyPipeIsNoScript) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  ::close(ends[1]);
  const Outcome outcome = titan({}).args(run_of({"--debug.break_at", "step=2"})).input(ends[0]).run();
  ::close(ends[0]);
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("no command comes from standard input"));
}

TEST_F(Breakpoint, ASilentPipeHoldsNothingUpForLong) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Outcome outcome = titan({}).args(run_of({"--debug.break_at", "step=2"})).input(ends[0]).run();
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("passed over: rank 0"));
}

TEST_F(Breakpoint, WhatIsNeverReachedIsSaid) {
  // The corpus is not as long.
  const Outcome outcome =
      titan({})
          .args(run_of({"--training.steps=1000000", "--dataloader.no_repeat", "--debug.break_at", "step=900000"}))
          .run();
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("a breakpoint was never reached: rank=0,step=900000"));
}

TEST_F(Breakpoint, OfAPipelineHoldsAllStages) {
  Process process = two_ranks("rank=1,step=2,module=layers.1,phase=backward",
                              {"--model.n_layers=2", "--parallelism.pipeline_parallel_degree=2",
                               "--parallelism.num_pp_microbatches=2", "--comm.train_timeout_seconds=3"})
                        .start();
  expect_prompt(process, 1);
  std::this_thread::sleep_for(std::chrono::seconds(8));
  answer("continue");
  expect_end(process, 0);
}

TEST_F(Breakpoint, AtAModuleOfAnotherStageIsRefused) {
  const Outcome outcome =
      launch(2, run_of({"--model.n_layers=2", "--parallelism.pipeline_parallel_degree=2",
                        "--parallelism.num_pp_microbatches=2", "--debug.break_at", "rank=1,module=layers.0"}))
          .run();
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome.out + outcome.err, HasSubstr("rank 1 does not run layers.0, which is on another pipeline stage"));
}

TEST_F(Breakpoint, WrongPlacesAreRefusedBeforeWork) {
  const auto refusal = [this](const std::string& place) {
    const Outcome outcome = launch(2, run_of({"--debug.break_at", place})).run();
    EXPECT_THAT(outcome, ExitsWith(78)) << place;
    return outcome.out + outcome.err;
  };
  EXPECT_THAT(refusal("rank=2"), HasSubstr("there is no rank 2: the run has 2 (0 to 1)"));
  EXPECT_THAT(refusal("modul=layers.0"), HasSubstr("unknown key"));
  EXPECT_THAT(refusal("module=layer.0"), HasSubstr("no module is called \"layer.0\"; did you mean layers.0"));
  EXPECT_THAT(refusal("step=5"), HasSubstr("never comes: training.steps is 4"));
}

/// A plugin that calls the breakpoint itself.
class BreakpointInAPlugin : public Breakpoint {
 protected:
  Process start(const std::string& mode, const char* num_steps = "4") const {
    const std::string breaker = std::filesystem::path(TITAN_FAULT_PLUGINS) / "breaker.so";
    const std::vector<std::string> all =
        run_of({"--plugin", breaker, "--training.steps", num_steps, "--comm.init_timeout_seconds=30"});
    return in_terminal(launch(2, all, {"--grace-seconds=1"}))
        .env("TITAN_BREAKER", mode)
        .env("TITAN_BREAKER_RANK", "1")
        .start();
  }
};

TEST_F(BreakpointInAPlugin, BreaksAndShowsItsTensors) {
  Process process = start("forward");
  expect_prompt(process, 1);
  answer("stats x");
  ASSERT_TRUE(terminal_.wait_for("x: bfloat16 [2, 64, 32]")) << terminal_.shown();
  for (int step = 1; step <= 4; ++step) {
    answer("continue");
    const bool is_last = step == 4;
    ASSERT_TRUE(is_last || terminal_.wait_for("at \"before the block\"")) << terminal_.shown();
  }
  expect_end(process, 0);
}

TEST_F(BreakpointInAPlugin, OfARankThatComesWhileAnotherIsAtItsPromptWaitsForItsTurn) {
  Process process = start("late", "1");
  expect_prompt(process, 0);
  std::this_thread::sleep_for(std::chrono::seconds(4));
  answer("continue");
  ASSERT_TRUE(terminal_.wait_for("rank 1> ")) << terminal_.shown();
  answer("continue");
  expect_end(process, 0);
  EXPECT_THAT(terminal_.shown(), AllOf(HasSubstr("*** breakpoint: rank 1"), HasSubstr("waits for its turn"),
                                       Not(HasSubstr("passed over"))));
}

TEST_F(BreakpointInAPlugin, QuitPassesThroughForward) {
  Process process = start("forward");
  expect_prompt(process, 1);
  answer("quit");
  expect_end(process, kQuit);
}

TEST_F(BreakpointInAPlugin, DeadlinesHoldAgainAfterAQuitThatIsSwallowed) {
  Process process = start("swallow");
  expect_prompt(process, 1);
  answer("quit");
  expect_end(process, 69);
  EXPECT_THAT(terminal_.shown(), HasSubstr("not done in time: missing rank 1"));
}

TEST_F(BreakpointInAPlugin, QuitPassesThroughBackward) {
  Process process = start("backward");
  expect_prompt(process, 1);
  answer("quit");
  expect_end(process, kQuit);
  EXPECT_THAT(terminal_.shown(), HasSubstr("quit at the breakpoint on rank 1 (step 1, micro-batch 0, backward"));
}

}  // namespace
}  // namespace titan::cli
