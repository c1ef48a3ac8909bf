#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/cli_reader.hpp"
#include "tests/unit/base/thrown.hpp"
#include "tests/unit/config/sample_registry.hpp"

namespace titan::config {
namespace {

using ::testing::HasSubstr;

TEST(CliWordsTest, FirstWordIsTheVerb) {
  const Registry registry = test::sample_registry();
  const Invocation named = split_verb(registry, {"config", "--x"}, "train");
  EXPECT_EQ(named.verb->name, "config");
  EXPECT_EQ(named.words, Words{"--x"});
  EXPECT_EQ(split_verb(registry, {"--x", "config"}, "train").verb->name, "train");
  EXPECT_EQ(split_verb(registry, {"--x", "config"}, "train").words.size(), 2U);
  EXPECT_EQ(split_verb(registry, {}, "train").verb->name, "train");
}

TEST(CliWordsTest, AVerbMayHaveTwoWords) {
  Registry registry = test::sample_registry();
  registry.add(Verb{.name = "config layouts", .summary = "Two words.", .flags = {}, .positionals = {}});
  const Invocation two = split_verb(registry, {"config", "layouts", "--x"}, "train");
  EXPECT_EQ(two.verb->name, "config layouts");
  EXPECT_EQ(two.words, Words{"--x"});
  EXPECT_EQ(split_verb(registry, {"config", "other"}, "train").verb->name, "config");
  EXPECT_EQ(split_verb(registry, {"config", "--x", "layouts"}, "train").verb->name, "config");
}

TEST(CliWordsTest, UnknownVerbListsVerbs) {
  const Registry registry = test::sample_registry();
  const test::Thrown near = test::thrown_by([&] { return split_verb(registry, {"confi"}, "train"); });
  EXPECT_EQ(near.exit, Exit::usage);
  EXPECT_EQ(near.message,
            "[config] unknown verb: \"confi\"; did you mean config? There are: config, train, plugin, launch");
  const test::Thrown far = test::thrown_by([&] { return split_verb(registry, {"\x1b[2J"}, "train"); });
  EXPECT_EQ(far.message.find('\x1b'), std::string::npos);
}

TEST(CliWordsTest, AWordThatVerbsBeginWithNeedsASecondOne) {
  Registry registry = test::sample_registry();
  for (const char* name : {"store inspect", "store verify"}) {
    registry.add(Verb{.name = name, .summary = "Two words.", .flags = {}, .positionals = {}});
  }
  const auto refusal = [&](const Words& words) {
    return test::thrown_by([&] { return split_verb(registry, words, "train"); }).message;
  };
  EXPECT_EQ(split_verb(registry, {"store", "verify", "x"}, "train").verb->name, "store verify");
  EXPECT_EQ(refusal({"store", "verfy"}),
            "[config] unknown verb: \"store verfy\"; did you mean verify? There are: verify, inspect");
  EXPECT_THAT(refusal({"stor", "verify"}),
              ::testing::StartsWith("[config] unknown verb: \"stor verify\"; did you mean store verify? "));
  const std::string alone = "[config] \"store\" needs a second word; there are: inspect, verify";
  EXPECT_EQ(refusal({"store"}), alone);
  EXPECT_EQ(refusal({"store", "--json"}), alone);
}

TEST(CliWordsTest, FlagValuesAreReadInOrder) {
  const Words words = {"--plugin",  "a", "--x", "--plugin=b", "--plugin", "--y",
                       "--pluginx", "c", "--",  "--plugin",   "d"};
  EXPECT_EQ(flag_values(words, "plugin"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(flag_values({"--plugin"}, "plugin").empty());
  EXPECT_EQ(flag_values({"--config="}, "config"), std::vector<std::string>{""});
}

TEST(CliWordsTest, HelpPattern) {
  EXPECT_EQ(help_pattern({"--x"}), std::nullopt);
  EXPECT_EQ(help_pattern({"--x", "--help"}), "");
  EXPECT_EQ(help_pattern({"-h"}), "");
  EXPECT_EQ(help_pattern({"--help=steps"}), "steps");
  EXPECT_EQ(help_pattern({"--", "--help"}), std::nullopt);
}

TEST(CliWordsTest, WordsAfterDashes) {
  EXPECT_EQ(words_after_dashes({"--x", "--", "train", "--", "--y"}), (Words{"train", "--", "--y"}));
  EXPECT_EQ(words_after_dashes({"--x"}), Words{});
  EXPECT_EQ(words_after_dashes({"--"}), Words{});
}

TEST(CliWordsTest, CommandLineTellsTheLastValue) {
  CommandLine line;
  line.flags["module"] = {"a", "b"};
  EXPECT_TRUE(line.has("module"));
  EXPECT_EQ(line.last("module"), "b");
  EXPECT_EQ(line.last("config", "none"), "none");
}

}  // namespace
}  // namespace titan::config
