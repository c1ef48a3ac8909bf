#include "plugins/observability/breakpoint/prompt.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "plugins/observability/breakpoint/command.hpp"

namespace titan::observability {
namespace {

using ::testing::HasSubstr;

class ScriptedConsole : public Console {
 public:
  explicit ScriptedConsole(std::deque<std::string> lines, Got last = Got::end)
      : lines_(std::move(lines)), last_(last) {}
  Got read_line(std::string_view sign, std::string& line) override {
    shown += sign;
    if (lines_.empty()) return last_;
    line = lines_.front();
    lines_.pop_front();
    return Got::line;
  }
  void write(std::string_view text) override { shown += text; }

  std::string shown;

 private:
  std::deque<std::string> lines_;
  Got last_;
};

class EchoSubject : public Subject {
 public:
  std::string where() const override { return "WHERE\n"; }
  std::string module(const std::string& name) const override { return "MODULE " + name + '\n'; }
  std::string stats(const std::string& name) const override {
    if (name == "bad") throw CommandError("no tensor is called bad");
    return "STATS " + name + '\n';
  }
  std::string print(const std::string& name, const std::string& slice) const override {
    return "PRINT " + name + slice + '\n';
  }
  std::string grad(const std::string& name, const std::string& slice) const override {
    return "GRAD " + name + slice + '\n';
  }
};

PromptEnd end_of(std::deque<std::string> lines, Console::Got last = Console::Got::end) {
  ScriptedConsole console(std::move(lines), last);
  return run_prompt(console, EchoSubject(), "> ");
}

TEST(Prompt, AnswersEachCommand) {
  ScriptedConsole console({"where", "m layers", "stats x", "print x [0]", "grad w", "help", "", "c", "not read"});
  EXPECT_EQ(run_prompt(console, EchoSubject(), "rank 1> "), PromptEnd::go_on);
  for (const char* answer : {"WHERE", "MODULE layers", "STATS x", "PRINT x[0]", "GRAD w", "end the run on all ranks"}) {
    EXPECT_THAT(console.shown, HasSubstr(answer));
  }
  EXPECT_TRUE(console.shown.starts_with("rank 1> WHERE\nrank 1> ")) << console.shown;
}

TEST(Prompt, MistakesAreAnsweredAndItGoesOn) {
  ScriptedConsole console({"stats bad", "stast x", "continue"});
  EXPECT_EQ(run_prompt(console, EchoSubject(), "> "), PromptEnd::go_on);
  EXPECT_THAT(console.shown, HasSubstr("no tensor is called bad\n"));
  EXPECT_THAT(console.shown, HasSubstr("did you mean stats?"));
}

TEST(Prompt, ALineThatIsTooLongIsRefusedAndNothingSteersTheTerminal) {
  ScriptedConsole console({std::string(Console::kLongestLine + 1, 'x'), std::string("stats\0bad", 9), "continue"});
  EXPECT_EQ(run_prompt(console, EchoSubject(), "> "), PromptEnd::go_on);
  EXPECT_THAT(console.shown, HasSubstr("the line is not taken: it is longer than 65536 bytes: xxx"));
  EXPECT_LT(console.shown.size(), 4000U);
  EXPECT_THAT(console.shown, HasSubstr("the line is no text: stats\\x00bad\n"));
}

TEST(Prompt, WaysOut) {
  EXPECT_EQ(end_of({"step"}), PromptEnd::step);
  EXPECT_EQ(end_of({"quit"}), PromptEnd::quit);
  EXPECT_EQ(end_of({}), PromptEnd::quit) << "Ctrl-D";
  EXPECT_EQ(end_of({"where"}, Console::Got::interrupt), PromptEnd::quit) << "Ctrl-C";
  EXPECT_EQ(end_of({"where"}, Console::Got::signal), PromptEnd::leave);
}

}  // namespace
}  // namespace titan::observability
