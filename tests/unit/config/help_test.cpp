#include "core/config/help.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/text.hpp"
#include "core/config/option_builder.hpp"
#include "tests/unit/config/sample_registry.hpp"

namespace titan::config {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class HelpTest : public ::testing::Test {
 protected:
  std::string help(const std::string& verb, const std::string& pattern = "") const {
    return render_help(registry_, {registry_.find_verb(verb), pattern, 100});
  }

  Registry registry_ = test::sample_registry();
};

TEST_F(HelpTest, ListsEveryOptionOfEveryOwner) {
  const std::string text = help("train");
  for (const Option* option : registry_.options())
    EXPECT_THAT(text, ::testing::ContainsRegex(concat("--", option->name, "[ ,]")));
  for (const char* owner :
       {"=== titan ===", "=== plugin llama3 ===", "=== plugin mixtral ===", "=== plugin sampler ==="}) {
    EXPECT_THAT(text, HasSubstr(owner));
  }
  EXPECT_LT(text.find("=== titan ==="), text.find("=== plugin llama3 ===")) << "the core first";
}

TEST_F(HelpTest, UsageNamesTheOtherCommandLine) {
  EXPECT_THAT(help("launch"), HasSubstr("usage: titan launch [flags] -- [train] RUN...\n"));
  EXPECT_THAT(help("train"), HasSubstr("usage: titan train [flags] [options]\n"));
}

TEST_F(HelpTest, TellsTypeRangeChoicesAndDefault) {
  EXPECT_THAT(
      help("train", "sample.count"),
      HasSubstr("--sample.count INT              A number. (an integer of at least -5 and at most 5; default: 1)"));
  EXPECT_THAT(help("train", "sample.mode"), HasSubstr("--sample.mode {fast,slow}       A choice. (default: fast)"));
  EXPECT_THAT(help("train", "sample.file"),
              HasSubstr("--sample.file PATH              A file. (a path or None; default: None)"));
  EXPECT_THAT(help("train", "sample.enable_x"), HasSubstr("--sample.enable_x, --sample.no_enable_x\n"));
  EXPECT_THAT(help("train", "sample.groups"), HasSubstr("--sample.groups JSON"));
}

TEST_F(HelpTest, FitsTheTerminal) {
  for (const std::string& line : split(help("train"), '\n')) EXPECT_LE(line.size(), 100U) << line;
}

TEST_F(HelpTest, ShowsVerbsFlagsAndPresets) {
  EXPECT_THAT(help("config"), HasSubstr("usage: titan config [flags] [options]"));
  EXPECT_THAT(help("config"), HasSubstr("--schema "));
  EXPECT_THAT(help("config"), HasSubstr("--help[=PATTERN] "));
  EXPECT_THAT(help("train"), Not(HasSubstr("--schema")));
  EXPECT_THAT(help("train"), HasSubstr("presets (--module llama3 --config NAME):"));
  EXPECT_THAT(help("train"), HasSubstr("llama3_8b                       8B. (based on llama3_base)"));
  EXPECT_THAT(help("plugin"), HasSubstr("usage: titan plugin ACTION FILE [flags]\n"));
  EXPECT_THAT(help("plugin"), Not(HasSubstr("--training.steps")));
  const std::string all = render_help(registry_, {});
  EXPECT_THAT(all, HasSubstr("  config                          Prints the resolved configuration."));
  EXPECT_THAT(all, HasSubstr("--training.steps"));
}

TEST_F(HelpTest, AGroupListsItsVerbsAlone) {
  registry_.add(Verb{.name = "store verify", .summary = "Looks at it.", .flags = {}, .positionals = {}});
  EXPECT_THAT(registry_.second_words("store"), ::testing::ElementsAre("verify"));
  EXPECT_THAT(registry_.second_words("train"), ::testing::IsEmpty()) << "a verb itself";
  EXPECT_EQ(render_help(registry_, {.pattern = {}, .group = "store"}),
            "usage: titan store VERB [flags]\n\nverbs:\n  store verify                    Looks at it.\n");
  const std::string both = render_help(registry_, {.pattern = "steps", .group = "store"});
  EXPECT_THAT(both, HasSubstr("  store verify "));
  EXPECT_THAT(both, HasSubstr("--training.steps"));
}

TEST_F(HelpTest, PatternsFilter) {
  const std::string text = help("train", "STEPS");
  EXPECT_THAT(text, HasSubstr("--training.steps"));
  EXPECT_THAT(text, HasSubstr("--lr_scheduler.warmup_steps"));
  EXPECT_THAT(text, Not(HasSubstr("--training.max_norm")));
  EXPECT_THAT(text, Not(HasSubstr("usage:")));
  EXPECT_THAT(help("train", "8b"), HasSubstr("llama3_8b"));
  EXPECT_EQ(help("train", "zz\x1b"), "No option or preset matches \"zz\\x1b\".\n");
}

TEST_F(HelpTest, PatternForms) {
  EXPECT_TRUE(matches_help_pattern("training.max_norm", "max-NORM"));
  EXPECT_TRUE(matches_help_pattern("training.max_norm", "--training.max"));
  EXPECT_TRUE(matches_help_pattern("training.max_norm", "training.*"));
  EXPECT_TRUE(matches_help_pattern("training.max_norm", "*norm"));
  EXPECT_FALSE(matches_help_pattern("training.max_norm", "norm*")) << "a glob covers the whole name";
  EXPECT_TRUE(matches_help_pattern("training.max_norm", ""));
  EXPECT_FALSE(matches_help_pattern("training.max_norm", "[training"));
}

TEST_F(HelpTest, HiddenOptionsStayHidden) {
  Option option = integer("sample.secret", 1, "");
  option.hidden = true;
  registry_.add(option);
  EXPECT_THAT(help("train"), Not(HasSubstr("secret")));
  EXPECT_THAT(help("train", "sample.secret"), HasSubstr("No option or preset matches"));
}

}  // namespace
}  // namespace titan::config
