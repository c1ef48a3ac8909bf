#include "plugins/observability/breakpoint/command.hpp"

#include <array>
#include <vector>

#include "plugins/observability/breakpoint/text_parts.hpp"

namespace titan::observability {
namespace {

enum class Takes { nothing, maybe_name, name, name_and_slice };

struct Entry {
  std::string_view word, letter;
  Verb verb;
  Takes takes;
  std::string_view help;
};

constexpr std::array kEntries = {
    Entry{"where", "w", Verb::where, Takes::nothing, "where               rank, step, micro-batch, phase, module, pid"},
    Entry{"module", "m", Verb::module, Takes::maybe_name,
          "module [NAME]       the modules below, with kinds and parameters"},
    Entry{
        "stats", "s", Verb::stats, Takes::maybe_name,
        "stats [NAME]        shape, type, range, mean, std, norm, zeros, NaN and inf; of a module: of its parameters;\n"
        "                    without a name: of the tensors that are here"},
    Entry{"print", "p", Verb::print, Takes::name_and_slice,
          "print NAME [SLICE]  elements; a slice is Python's: print layers.0.attention.wq.weight [0, :4]"},
    Entry{"grad", "g", Verb::grad, Takes::name_and_slice,
          "grad NAME [SLICE]   the same of a parameter's gradient: its numbers, and with a slice its elements"},
    Entry{"step", "n", Verb::step, Takes::nothing,
          "step                go on to the begin of the next step, and break again"},
    Entry{"continue", "c", Verb::go_on, Takes::nothing, "continue            go on"},
    Entry{"quit", "q", Verb::quit, Takes::nothing,
          "quit                end the run on all ranks; Ctrl-D and Ctrl-C do the same"},
    Entry{"help", "h", Verb::help, Takes::nothing,
          "help                this text; each command may be its first letter "
          "(step: n)"},
};

const Entry& find(std::string_view word) {
  for (const Entry& entry : kEntries) {
    if (word == entry.word || word == entry.letter) return entry;
  }
  if (word == "exit") return find("quit");
  if (word == "?") return find("help");
  std::vector<std::string> words;
  for (const Entry& entry : kEntries) words.emplace_back(entry.word);
  throw CommandError("unknown command \"", word, '"', suggestion(word, words), " (help lists them)");
}

}  // namespace

Command parse_command(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text.empty()) return {};
  const std::size_t end = text.find_first_of(" \t");
  const Entry& entry = find(text.substr(0, end));
  const std::string_view rest = end == std::string_view::npos ? "" : trimmed(text.substr(end));
  const std::size_t bracket = rest.find('[');
  Command command{entry.verb, std::string(trimmed(rest.substr(0, bracket))),
                  bracket == std::string_view::npos ? "" : std::string(rest.substr(bracket))};
  const bool has_slice = !command.slice.empty();
  if (entry.takes == Takes::nothing && !rest.empty()) throw CommandError(entry.word, " takes no argument");
  if (has_slice && entry.takes != Takes::name_and_slice) throw CommandError(entry.word, " takes no slice");
  if (command.name.empty() && (entry.takes == Takes::name || entry.takes == Takes::name_and_slice)) {
    throw CommandError(entry.word, " needs the name of a tensor: stats lists what is here, module what the model has");
  }
  if (command.name.find_first_of(" \t") != std::string::npos) {
    throw CommandError("one name at a time: \"", command.name, '"');
  }
  return command;
}

std::string help_text() {
  std::string out;
  for (const Entry& entry : kEntries) out += sdk::concat("  ", entry.help, '\n');
  return out;
}

}  // namespace titan::observability
