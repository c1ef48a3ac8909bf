#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

class HelpTest : public CliTest {
 protected:
  /// The files a process has mapped while it waits to print: its pipe is full until they have been read.
  static std::string maps_while_printing(Command command) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const std::string filling(static_cast<std::size_t>(::fcntl(ends[1], F_SETPIPE_SZ, 4096)), '.');
    EXPECT_EQ(::write(ends[1], filling.data(), filling.size()), static_cast<ssize_t>(filling.size()));
    Process process = command.redirect(1, ends[1]).start();
    ::close(ends[1]);
    wait_until_asleep(process);
    std::string maps = read("/proc/" + std::to_string(process.pid()) + "/maps");
    EXPECT_GT(read_all(ends[0]).size(), filling.size()) << "nothing was printed after the files were listed";
    ::close(ends[0]);
    EXPECT_THAT(process.wait(), ExitsWith(0));
    return maps;
  }

  static void wait_until_asleep(Process& process) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (int samples = 0; samples < 5 && process.is_running() && std::chrono::steady_clock::now() < deadline;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      const std::string stat = read("/proc/" + std::to_string(process.pid()) + "/stat");
      samples = stat.find(") S ") == std::string::npos ? 0 : samples + 1;
    }
    EXPECT_TRUE(process.is_running());
  }

  static std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = ::read(descriptor, buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return text;
  }

  static void expect_small(const std::string& maps) {
    EXPECT_THAT(maps, testing::HasSubstr("libc.so"));
    for (const char* library : {"libtorch", "libc10", "libtitan_engine", "llama3.so", "observability.so", "libgomp"}) {
      EXPECT_THAT(maps, testing::Not(testing::HasSubstr(library)));
    }
  }
};

TEST_F(HelpTest, ListsEveryOptionByOwner) {
  const Outcome outcome = titan({"--help"}).run();
  EXPECT_THAT(outcome, ExitsWith(0));
  for (const char* text :
       {"usage: titan", "train", "--training.steps", "--model.dim", "--metrics.log_freq", "llama3_8b"}) {
    EXPECT_THAT(outcome, Prints(text));
  }
  EXPECT_EQ(outcome.err, "");
}

TEST_F(HelpTest, EveryFormShowsIt) {
  for (const char* word : {"-h", "help"}) EXPECT_THAT(titan({word}).run(), Prints("--training.steps")) << word;
  EXPECT_THAT(titan({"--module", "llama3", "--help"}).run(), Prints("--training.steps"));
  EXPECT_THAT(titan({"config", "--help"}).run(), Prints("--schema"));
  EXPECT_THAT(titan({"help", "config"}).run(), Prints("--schema"));
  EXPECT_THAT(titan({"plugin", "--help"}).run(), Prints("--json"));
}

TEST_F(HelpTest, VerbsOfTwoWordsHaveTheirs) {
  const Outcome outcome = titan({"help", "compare", "layouts"}).run();
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Prints("usage: titan compare layouts"));
  EXPECT_EQ(outcome.out, titan({"compare", "layouts", "--help"}).run().out);
  EXPECT_THAT(titan({"help", "compare", "nothing"}).run(), ExitsWith(64));
  EXPECT_THAT(titan({"help", "compare", "nothing"}).run(), Says("no verb has this name: compare nothing"));
}

TEST_F(HelpTest, AWordThatSeveralVerbsBeginWithListsThem) {
  for (const char* word : {"--help", "-h"}) {
    const Outcome outcome = titan({"checkpoint", word}).run();
    EXPECT_THAT(outcome, ExitsWith(0));
    EXPECT_THAT(outcome, Prints("usage: titan checkpoint VERB [flags]\n"));
    for (const char* verb : {"inspect", "verify", "convert", "diff"}) {
      EXPECT_THAT(outcome, Prints(std::string("\n  checkpoint ") + verb + "  ")) << word;
    }
    EXPECT_THAT(outcome, testing::Not(Prints("\n  train ")));
    EXPECT_THAT(outcome, testing::Not(Prints("--training.steps")));
  }
  const Outcome both = titan({"help", "checkpoint"}).run();
  EXPECT_THAT(both, Prints("\n  checkpoint verify  "));
  EXPECT_THAT(both, Prints("--checkpoint.interval")) << "a section of options has that name, too";
}

TEST_F(HelpTest, AWrongSecondWordGetsTheNearest) {
  const Outcome wrong = titan({"checkpoint", "inspct", "folder"}).run();
  EXPECT_THAT(wrong, ExitsWith(64));
  EXPECT_THAT(wrong, Says("unknown verb: \"checkpoint inspct\"; did you mean inspect? There are: "));
  EXPECT_THAT(titan({"checkpoint"}).run(), ExitsWith(64));
  EXPECT_THAT(titan({"checkpoint"}).run(), Says("\"checkpoint\" needs a second word; there are: inspect, "));
  EXPECT_THAT(titan({"checkpoint", "--json"}).run(), Says("needs a second word"));
}

TEST_F(HelpTest, APatternFilters) {
  for (const char* word : {"--help=log_freq", "--help=metrics.log-freq", "--help=*log_freq"}) {
    const Outcome outcome = titan({word}).run();
    EXPECT_THAT(outcome, ExitsWith(0));
    EXPECT_THAT(outcome, Prints("--metrics.log_freq"));
    EXPECT_THAT(outcome, testing::Not(Prints("--training.steps")));
  }
  EXPECT_THAT(titan({"help", "log_freq"}).run(), Prints("--metrics.log_freq"));
}

TEST_F(HelpTest, VersionIsOneLine) {
  for (const char* word : {"--version", "version"}) {
    const Outcome outcome = titan({word}).run();
    EXPECT_THAT(outcome, ExitsWith(0));
    EXPECT_THAT(outcome.out, testing::MatchesRegex("titan [0-9.]+.*\n"));
  }
}

TEST_F(HelpTest, OpensNoLibraryOfPluginsOrTensors) { expect_small(maps_while_printing(titan({"--help"}))); }

TEST_F(HelpTest, ConfigOpensNoneEither) { expect_small(maps_while_printing(titan({"config"}).args(tiny_model()))); }

// Processor time, the best of five: the machine may be busy.
TEST_F(HelpTest, HelpAndConfigTakeUnderATenthOfASecond) {
  for (Command command : {titan({"--help"}), titan({"config"}).args(tiny_model())}) {
    double best = 1e9;
    for (int i = 0; i < 5; ++i) best = std::min(best, command.run().cpu_seconds);
    EXPECT_LT(best, 0.1);
  }
}

TEST_F(HelpTest, AReaderThatLeavesIsNoError) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  ::close(ends[0]);
  const Outcome outcome = titan({"--help"}).redirect(1, ends[1]).run();
  ::close(ends[1]);
  EXPECT_EQ(outcome.status, 128 + SIGPIPE) << "as for any program whose reader left";
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace titan::cli
