#include "core/config/cli_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/base/thrown.hpp"
#include "tests/unit/config/sample_registry.hpp"

namespace titan::config {
namespace {

using ::testing::HasSubstr;
using Settings = std::vector<std::string>;

class CliReaderTest : public ::testing::Test {
 protected:
  CommandLine read(const Words& words, const std::string& module = "llama3", const std::string& verb = "config") {
    problems_ = Problems();
    return read_command_line(registry_, *registry_.find_verb(verb), module, words, problems_);
  }

  /// The settings of a correct command line, as "name=text".
  Settings settings(const Words& words, const std::string& module = "llama3") {
    Settings out;
    for (const auto& [option, text] : read(words, module).settings) out.push_back(option->name + "=" + text);
    problems_.throw_if_any();
    return out;
  }

  std::string complaint(const Words& words, const std::string& module = "llama3", const std::string& verb = "config") {
    static_cast<void>(read(words, module, verb));
    const test::Thrown thrown = test::thrown_by([&] { return problems_.throw_if_any(), 0; });
    EXPECT_TRUE(thrown.message.empty() || thrown.exit == Exit::usage);
    return thrown.message;
  }

  const Registry registry_ = test::sample_registry();
  Problems problems_;
};

TEST_F(CliReaderTest, ValuesFollowOrAreJoined) {
  EXPECT_EQ(settings({"--training.steps", "7"}), Settings{"training.steps=7"});
  EXPECT_EQ(settings({"--training.steps=7"}), Settings{"training.steps=7"});
  EXPECT_EQ(settings({"--sample.name", ""}), Settings{"sample.name="});
  EXPECT_EQ(settings({"--sample.name="}), Settings{"sample.name="});
  EXPECT_EQ(settings({"--sample.name=a=b"}), Settings{"sample.name=a=b"});
  EXPECT_EQ(settings({"--sample.name=--x"}), Settings{"sample.name=--x"});
  EXPECT_EQ(settings({"--sample.name", "-x"}), Settings{"sample.name=-x"});
  EXPECT_EQ(settings({"--training.num_tokens_per_train_step", "-1"}),
            Settings{"training.num_tokens_per_train_step=-1"});
  EXPECT_EQ(settings({"--dump_folder", "x"}), Settings{"dump_folder=x"});
}

TEST_F(CliReaderTest, DashesAndUnderscoresAreTheSameInNames) {
  EXPECT_EQ(settings({"--training.max-norm", "2"}), Settings{"training.max_norm=2"});
  EXPECT_EQ(settings({"--dump-folder=a-b"}), Settings{"dump_folder=a-b"}) << "but not in values";
}

TEST_F(CliReaderTest, DashesAndUnderscoresAreTheSameInFlags) {
  for (const char* word : {"--num-ranks=3", "--num_ranks=3"}) {
    EXPECT_EQ(read({word}, "", "launch").last("num-ranks"), "3") << word;
  }
}

TEST_F(CliReaderTest, AnotherCommandLineIsLeftAlone) {
  const CommandLine line = read({"--num-ranks", "2", "--", "train", "--unknown", "--", "-x"}, "", "launch");
  EXPECT_TRUE(problems_.empty());
  EXPECT_EQ(line.rest, (Words{"train", "--unknown", "--", "-x"}));
  EXPECT_EQ(line.last("num-ranks"), "2");
  EXPECT_THAT(complaint({"train"}, "", "launch"), HasSubstr("unexpected argument"));
}

TEST_F(CliReaderTest, BooleansAreActions) {
  EXPECT_EQ(settings({"--sample.enable_x"}), Settings{"sample.enable_x=true"});
  EXPECT_EQ(settings({"--sample.no_enable_x"}), Settings{"sample.enable_x=false"});
  EXPECT_EQ(settings({"--sample.no-enable-x"}), Settings{"sample.enable_x=false"});
  EXPECT_EQ(settings({"--sample.no-enable_x"}), Settings{"sample.enable_x=false"});
  EXPECT_EQ(settings({"--sample.enable_x=False"}), Settings{"sample.enable_x=False"});
  EXPECT_EQ(settings({"--sample.enable-x=true"}), Settings{"sample.enable_x=true"});
}

TEST_F(CliReaderTest, BooleansTakeNoWord) {
  EXPECT_EQ(complaint({"--sample.enable_x", "false"}),
            "[config] unexpected argument: \"false\"; a boolean takes its value with an equals sign: "
            "--sample.enable_x=false");
  EXPECT_EQ(complaint({"--sample.no_enable_x=true"}),
            "[config] --sample.no_enable_x: takes no value, got \"true\"; write --sample.enable_x=true or =false");
}

TEST_F(CliReaderTest, OnlyBooleansCanBeDenied) {
  EXPECT_EQ(complaint({"--training.no_steps"}),
            "[config] --training.no_steps: unknown option; did you mean --training.steps?");
}

TEST_F(CliReaderTest, RepeatedOptionsStayInOrder) {
  EXPECT_EQ(settings({"--training.steps=1", "--sample.enable_x", "--training.steps", "2", "--sample.no_enable_x"}),
            (Settings{"training.steps=1", "sample.enable_x=true", "training.steps=2", "sample.enable_x=false"}));
}

TEST_F(CliReaderTest, ListsTakeWordsUpToTheNextFlag) {
  EXPECT_EQ(settings({"--sample.items", "a,b"}), Settings{"sample.items=a,b"});
  EXPECT_EQ(settings({"--sample.items", "a", "b", "--training.steps", "7"}),
            (Settings{"sample.items=a,b", "training.steps=7"}));
  EXPECT_EQ(settings({"--sample.items", ""}), Settings{"sample.items="});
  EXPECT_EQ(settings({"--sample.items="}), Settings{"sample.items="});
  EXPECT_EQ(settings({"--sample.items", "[\"a\"]", "--"}), Settings{"sample.items=[\"a\"]"});
}

TEST_F(CliReaderTest, MissingValues) {
  EXPECT_EQ(complaint({"--training.steps"}), "[config] --training.steps: needs a value: an integer of at least 1");
  EXPECT_EQ(
      complaint({"--sample.name", "--sample.enable_x"}),
      "[config] --sample.name: needs a value: a text (write --sample.name=--sample.enable_x if that is the value)");
  EXPECT_EQ(complaint({"--sample.items", "--"}), "[config] --sample.items: needs a value: a list of texts");
  EXPECT_EQ(complaint({"--module"}), "[config] --module: needs a value: NAME");
}

TEST_F(CliReaderTest, UnknownOptionsSuggest) {
  EXPECT_EQ(complaint({"--training.stepz", "7"}),
            "[config] --training.stepz: unknown option; did you mean --training.steps?");
  EXPECT_EQ(complaint({"--training.stepz=7"}),
            "[config] --training.stepz: unknown option; did you mean --training.steps?");
  EXPECT_EQ(complaint({"--modul", "llama3"}), "[config] --modul: unknown option; did you mean --module?");
  EXPECT_EQ(complaint({"-x"}), "[config] -x: unknown option");
  EXPECT_EQ(complaint({"--="}), "[config] --: unknown option");
  EXPECT_EQ(complaint({"--schema"}, "llama3", "train"),
            "[config] --schema: unknown option; it is a flag of `titan config`");
}

TEST_F(CliReaderTest, PrefixesAreNotEnough) {
  EXPECT_THAT(complaint({"--training.step", "7"}), HasSubstr("unknown option"));
  EXPECT_THAT(complaint({"--Training.steps", "7"}), HasSubstr("did you mean --training.steps?"));
}

TEST_F(CliReaderTest, AllProblemsAtOnce) {
  EXPECT_EQ(complaint({"--training.stepz", "7", "--nothing.like.it", "stray", "--sample.enable_x", "--training.steps"}),
            "[config] 3 problems:\n"
            "  --training.stepz: unknown option; did you mean --training.steps?\n"
            "  --nothing.like.it: unknown option\n"
            "  --training.steps: needs a value: an integer of at least 1");
}

TEST_F(CliReaderTest, WordsThatBelongToNothing) {
  EXPECT_EQ(complaint({"stray"}), "[config] unexpected argument: \"stray\"");
  EXPECT_EQ(complaint({"--training.steps=7", "8"}), "[config] unexpected argument: \"8\"");
  EXPECT_EQ(complaint({"--training.steps", "7", "8"}), "[config] unexpected argument: \"8\"");
  EXPECT_EQ(complaint({"-"}), "[config] unexpected argument: \"-\"");
}

TEST_F(CliReaderTest, TwoDashesEndOptions) {
  EXPECT_EQ(settings({"--training.steps", "7", "--"}), Settings{"training.steps=7"});
  EXPECT_EQ(complaint({"--", "--training.steps", "7"}),
            "[config] 2 problems:\n"
            "  unexpected argument: \"--training.steps\" (options after -- are not read)\n"
            "  unexpected argument: \"7\" (options after -- are not read)");
}

TEST_F(CliReaderTest, FlagsOfTheVerb) {
  const CommandLine line = read({"--module", "llama3", "--plugin", "a", "--plugin=b", "--schema", "--help=x", "-h"});
  EXPECT_TRUE(problems_.empty());
  EXPECT_EQ(line.last("module"), "llama3");
  EXPECT_EQ(line.flags.at("plugin"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(line.has("schema"));
  EXPECT_EQ(line.flags.at("help"), (std::vector<std::string>{"x", ""}));
  EXPECT_EQ(complaint({"--schema=1"}), "[config] --schema: takes no value, got \"1\"");
}

TEST_F(CliReaderTest, HelpTakesItsPatternWithAnEqualsSignOnly) {
  EXPECT_EQ(complaint({"--help", "steps"}), "[config] unexpected argument: \"steps\"");
}

TEST_F(CliReaderTest, VerbsWithoutOptionsKnowNone) {
  const CommandLine line = read({"check", "x.so"}, "", "plugin");
  EXPECT_EQ(line.positionals, (std::vector<std::string>{"check", "x.so"}));
  EXPECT_EQ(complaint({"check", "x.so", "more"}, "", "plugin"), "[config] unexpected argument: \"more\"");
  EXPECT_THAT(complaint({"--training.steps", "7"}, "", "plugin"), HasSubstr("--training.steps: unknown option"));
}

TEST_F(CliReaderTest, ModelOptionsAreTheModules) {
  EXPECT_EQ(settings({"--model.dim", "7"}, "llama3"), Settings{"model.dim=7"});
  EXPECT_EQ(settings({"--model.no_dim"}, "mixtral"), Settings{"model.dim=false"}) << "there it is a boolean";
  EXPECT_THAT(complaint({"--model.n_experts", "7"}), HasSubstr("unknown option; it belongs to module mixtral"));
  EXPECT_THAT(complaint({"--model.dim", "7"}, ""), HasSubstr("no module is selected"));
  EXPECT_EQ(complaint({"--model.dim", "7"}, "nosuch"), "") << "the module itself is the problem";
}

TEST_F(CliReaderTest, HostileWordsAreSafeToPrint) {
  const std::string message = complaint({"--\x1b[2J\n", "x\x1b", std::string(1'000'000, 'x')});
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_LT(message.size(), 1000U);
  EXPECT_LT(complaint({"--" + std::string(1'000'000, 'x')}).size(), 1000U);
}

}  // namespace
}  // namespace titan::config
