#include <sstream>

#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

class OptionTest : public CliTest {
 protected:
  /// `titan config` of the debug model with more arguments.
  Outcome configure(std::initializer_list<std::string> args) const {
    return titan({"config", "--module", "llama3", "--config", "llama3_debugmodel"}).args(args).run();
  }

  /// The value of a key in a section of the printed configuration.
  static std::string value(const Outcome& outcome, const std::string& section, const std::string& key) {
    std::istringstream lines(outcome.out);
    std::string line;
    while (std::getline(lines, line) && line != "[" + section + "]") continue;
    while (std::getline(lines, line) && !line.starts_with("[")) {
      if (line.starts_with(key + " = ")) return line.substr(key.size() + 3, line.find("  #") - key.size() - 3);
    }
    return "not found";
  }
};

TEST_F(OptionTest, AnUnknownVerb) {
  const Outcome outcome = titan({"confg", "--module", "llama3"}).run();
  EXPECT_THAT(outcome, ExitsWith(64));
  EXPECT_THAT(outcome, Says("did you mean config"));
}

TEST_F(OptionTest, AVerbAfterTheOptions) {
  const Outcome outcome = titan({"--module", "llama3", "config"}).run();
  EXPECT_THAT(outcome, ExitsWith(64));
  EXPECT_THAT(outcome, Says("config"));
}

TEST_F(OptionTest, NothingAtAll) {
  const Outcome outcome = titan({}).run();
  EXPECT_THAT(outcome, ExitsWith(64));
  EXPECT_THAT(outcome, Says("--module"));
  EXPECT_THAT(outcome, Says("llama3"));
}

TEST_F(OptionTest, NoConfiguration) {
  const Outcome outcome = titan({"--module", "llama3"}).run();
  EXPECT_THAT(outcome, ExitsWith(64));
  EXPECT_THAT(outcome, Says("--config"));
  EXPECT_THAT(outcome, Says("llama3_debugmodel"));
}

TEST_F(OptionTest, AnUnknownOption) {
  const Outcome outcome = configure({"--no.such.thing", "1"});
  EXPECT_THAT(outcome, ExitsWith(64));
  EXPECT_THAT(outcome, Says("--no.such.thing: unknown option"));
}

TEST_F(OptionTest, AMisspelledOption) {
  const Outcome outcome = configure({"--training.stepz", "7"});
  EXPECT_THAT(outcome, ExitsWith(64));
  EXPECT_THAT(outcome, Says("did you mean --training.steps"));
}

TEST_F(OptionTest, AnOptionOfAFeatureThatDoesNotExist) { EXPECT_THAT(configure({"--compile.enable"}), ExitsWith(64)); }

TEST_F(OptionTest, AnUnknownPreset) {
  const Outcome outcome = titan({"config", "--module", "llama3", "--config", "llama3_7b"}).run();
  EXPECT_THAT(outcome, ExitsWith(78));
  for (const char* preset : {"llama3_debugmodel", "llama3_8b", "llama3_parity"}) EXPECT_THAT(outcome, Says(preset));
}

TEST_F(OptionTest, AnUnknownModule) {
  const Outcome outcome = titan({"config", "--module", "llama4", "--config", "x"}).run();
  EXPECT_THAT(outcome, testing::AnyOf(ExitsWith(66), ExitsWith(78)));
  EXPECT_THAT(outcome, Says("llama3"));
}

TEST_F(OptionTest, AWrongType) {
  const Outcome outcome = configure({"--training.steps=many"});
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("--training.steps: expected an integer"));
}

TEST_F(OptionTest, OutOfRange) {
  for (const char* word : {"--training.steps=0", "--metrics.log_freq=0", "--optimizer.beta1=1", "--optimizer.lr=nan",
                           "--training.steps=99999999999999999999", "--optimizer.lr=1e999"}) {
    EXPECT_THAT(configure({word}), ExitsWith(78)) << word;
  }
}

TEST_F(OptionTest, NotAChoice) {
  const Outcome outcome = configure({"--training.dtype=float16"});
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_THAT(outcome, Says("bfloat16"));
}

TEST_F(OptionTest, AValueThatIsMissing) {
  EXPECT_THAT(configure({"--training.steps"}), ExitsWith(64));
  EXPECT_THAT(configure({"--training.steps", "--debug.seed=1"}), ExitsWith(64));
}

TEST_F(OptionTest, AllMistakesAtOnce) {
  const Outcome outcome = configure({"--training.stepz=1", "--training.steps=0", "--optimizer.lr=high"});
  EXPECT_THAT(outcome, ExitsWith(64)) << "unknown flags decide";
  for (const char* text : {"--training.stepz", "--training.steps: ", "--optimizer.lr: "})
    EXPECT_THAT(outcome, Says(text));
}

TEST_F(OptionTest, BooleansAreActions) {
  const auto set = [&](std::initializer_list<std::string> args) {
    return value(configure(args), "dataloader", "repeat");
  };
  EXPECT_EQ(set({}), "true");
  EXPECT_EQ(set({"--dataloader.no_repeat"}), "false");
  EXPECT_EQ(set({"--dataloader.no-repeat"}), "false");
  EXPECT_EQ(set({"--dataloader.repeat=false"}), "false");
  EXPECT_EQ(set({"--dataloader.repeat=False"}), "false");
  EXPECT_EQ(set({"--dataloader.repeat=FALSE"}), "false");
  EXPECT_EQ(set({"--dataloader.no_repeat", "--dataloader.repeat"}), "true");
  EXPECT_EQ(set({"--dataloader.repeat=true", "--dataloader.no-repeat"}), "false");
}

TEST_F(OptionTest, ABooleanTakesNoOtherValue) {
  EXPECT_THAT(configure({"--dataloader.repeat=perhaps"}), ExitsWith(78));
  const Outcome outcome = configure({"--dataloader.repeat", "false"});
  EXPECT_THAT(outcome, ExitsWith(64));
  EXPECT_THAT(outcome, Says("--dataloader.repeat=false"));
}

TEST_F(OptionTest, TheLastOneWins) {
  const Outcome outcome = configure({"--training.steps=5", "--training.steps", "6", "--training.steps=7"});
  EXPECT_EQ(value(outcome, "training", "steps"), "7");
}

TEST_F(OptionTest, HostileTextIsShownHarmlessly) {
  const Outcome outcome = configure({"--training.dtype=\n[rank0] step: 1\033[2J"});
  EXPECT_THAT(outcome, ExitsWith(78));
  EXPECT_EQ(outcome.err.find('\033'), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("\n[rank0]"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace titan::cli
