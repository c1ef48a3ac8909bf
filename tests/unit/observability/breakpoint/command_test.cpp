#include "plugins/observability/breakpoint/command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/thrown_text.hpp"

namespace titan::observability {
namespace {

using ::testing::HasSubstr;
using titan::testing::error_text;

TEST(Command, WordsAndLetters) {
  EXPECT_EQ(parse_command("continue").verb, Verb::go_on);
  EXPECT_EQ(parse_command(" c ").verb, Verb::go_on);
  EXPECT_EQ(parse_command("q").verb, Verb::quit);
  EXPECT_EQ(parse_command("exit").verb, Verb::quit);
  EXPECT_EQ(parse_command("n").verb, Verb::step);
  EXPECT_EQ(parse_command("?").verb, Verb::help);
  EXPECT_EQ(parse_command("where\r").verb, Verb::where);
  EXPECT_EQ(parse_command("   ").verb, Verb::none);
}

TEST(Command, NamesAndSlices) {
  const Command print = parse_command("print layers.0.wq.weight [0, :4]");
  EXPECT_EQ(print.verb, Verb::print);
  EXPECT_EQ(print.name, "layers.0.wq.weight");
  EXPECT_EQ(print.slice, "[0, :4]");
  EXPECT_EQ(parse_command("print x[0]").name, "x");
  EXPECT_EQ(parse_command("print x[0]").slice, "[0]");
  EXPECT_EQ(parse_command("module").name, "");
  EXPECT_EQ(parse_command("stats input").name, "input");
}

TEST(Command, RefusalsHelpOn) {
  const auto refusal = [](std::string_view text) { return error_text<CommandError>([&] { parse_command(text); }); };
  EXPECT_THAT(refusal("stat x"), HasSubstr("unknown command \"stat\"; did you mean stats?"));
  EXPECT_THAT(refusal("xyzzy"), HasSubstr("help lists them"));
  EXPECT_THAT(refusal("print"), HasSubstr("needs the name of a tensor"));
  EXPECT_THAT(refusal("grad [0]"), HasSubstr("needs the name of a tensor"));
  EXPECT_THAT(refusal("continue 3"), HasSubstr("takes no argument"));
  EXPECT_THAT(refusal("stats x [0]"), HasSubstr("takes no slice"));
  EXPECT_THAT(refusal("stats x y"), HasSubstr("one name at a time"));
}

TEST(Command, HelpHasThemAll) {
  for (const char* word : {"where", "module", "stats", "print", "grad", "step", "continue", "quit", "help", "Ctrl-D"}) {
    EXPECT_THAT(help_text(), HasSubstr(word));
  }
}

}  // namespace
}  // namespace titan::observability
