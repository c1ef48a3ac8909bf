#include "plugins/observability/breakpoint/prompt.hpp"

#include <exception>

#include "plugins/observability/breakpoint/command.hpp"
#include "plugins/observability/breakpoint/text_parts.hpp"

namespace titan::observability {
namespace {

std::string answer(const Subject& subject, const Command& command) {
  switch (command.verb) {
    case Verb::where:
      return subject.where();
    case Verb::module:
      return subject.module(command.name);
    case Verb::stats:
      return subject.stats(command.name);
    case Verb::print:
      return subject.print(command.name, command.slice);
    case Verb::grad:
      return subject.grad(command.name, command.slice);
    case Verb::help:
      return help_text();
    default:
      return {};
  }
}

/// What it says is wrong stands in the answer: nobody loses a run over a typing error.
std::string answer_or_complaint(const Subject& subject, const std::string& line, Verb& verb) {
  try {
    if (line.size() > Console::kLongestLine) {
      throw CommandError("the line is not taken: it is longer than ", Console::kLongestLine, " bytes: ", line);
    }
    if (line.find('\0') != std::string::npos) throw CommandError("the line is no text: ", quotable(line));
    const Command command = parse_command(line);
    verb = command.verb;
    return answer(subject, command);
  } catch (const std::exception& error) {
    verb = Verb::none;
    return quotable(error.what()) + '\n';
  }
}

}  // namespace

PromptEnd run_prompt(Console& console, const Subject& subject, const std::string& sign) {
  for (;;) {
    std::string line;
    switch (console.read_line(sign, line)) {
      case Console::Got::line:
        break;
      case Console::Got::end:
      case Console::Got::interrupt:
        console.write("\n");
        return PromptEnd::quit;
      case Console::Got::signal:
        return PromptEnd::leave;
    }
    Verb verb = Verb::none;
    console.write(answer_or_complaint(subject, line, verb));
    if (verb == Verb::go_on) return PromptEnd::go_on;
    if (verb == Verb::step) return PromptEnd::step;
    if (verb == Verb::quit) return PromptEnd::quit;
  }
}

}  // namespace titan::observability
