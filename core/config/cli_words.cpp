#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/config/cli_reader.hpp"
#include "core/config/suggestion.hpp"

namespace titan::config {

namespace {

/// The words before "--".
Words before_end(const Words& words) { return {words.begin(), std::ranges::find(words, "--")}; }

std::string in_quotes(std::string_view words) { return concat('"', shortened(printable(words), 100), '"'); }

/// Throws for words of which the first is no verb, nor the first two together.
[[noreturn]] void fail_unknown(const Registry& registry, const Words& words) {
  const std::string& first = words.front();
  const std::vector<std::string> second_words = registry.second_words(first);
  const bool has_second = words.size() > 1 && !words[1].starts_with('-');
  if (!second_words.empty() && !has_second) {
    throw UsageError("[config] ", in_quotes(first), " needs a second word; there are: ", join(second_words, ", "));
  }
  if (!second_words.empty()) {
    throw UsageError("[config] unknown verb: ", in_quotes(concat(first, ' ', words[1])),
                     list_hint(words[1], second_words));
  }
  std::vector<std::string> names;
  for (const Verb& known : registry.verbs()) names.push_back(known.name);
  // "checkpont verify" is near to a verb, which its first word alone is not.
  const std::string both = has_second ? concat(first, ' ', words[1]) : first;
  const std::string& meant = nearest(both, names).empty() ? first : both;
  throw UsageError("[config] unknown verb: ", in_quotes(meant), list_hint(meant, names));
}

}  // namespace

Invocation split_verb(const Registry& registry, const Words& command_line, std::string_view default_verb) {
  const bool names_verb = !command_line.empty() && !command_line.front().starts_with('-');
  if (names_verb && command_line.size() > 1) {
    const Verb* verb = registry.find_verb(concat(command_line[0], ' ', command_line[1]));
    if (verb != nullptr) return {verb, Words(command_line.begin() + 2, command_line.end())};
  }
  const std::string name = names_verb ? command_line.front() : std::string(default_verb);
  const Verb* verb = registry.find_verb(name);
  if (verb == nullptr) fail_unknown(registry, command_line);
  return {verb, Words(command_line.begin() + (names_verb ? 1 : 0), command_line.end())};
}

std::vector<std::string> flag_values(const Words& words, std::string_view flag) {
  const std::string word = concat("--", flag);
  const Words read = before_end(words);
  std::vector<std::string> values;
  for (std::size_t i = 0; i < read.size(); ++i) {
    if (read[i] == word && i + 1 < read.size() && !read[i + 1].starts_with("--")) values.push_back(read[i + 1]);
    if (read[i].starts_with(word + "=")) values.push_back(read[i].substr(word.size() + 1));
  }
  return values;
}

Words words_after_dashes(const Words& words) {
  const auto dashes = std::ranges::find(words, "--");
  return dashes == words.end() ? Words() : Words(dashes + 1, words.end());
}

std::optional<std::string> help_pattern(const Words& words) {
  std::optional<std::string> pattern;
  for (const std::string& word : before_end(words)) {
    if (word == "--help" || word == "-h") pattern = "";
    if (word.starts_with("--help=")) pattern = word.substr(7);
  }
  return pattern;
}

std::string CommandLine::last(std::string_view flag, std::string_view otherwise) const {
  const auto found = flags.find(flag);
  return std::string(found == flags.end() || found->second.empty() ? otherwise : found->second.back());
}

std::vector<Flag> run_flags() {
  return {{.name = "module", .metavar = "NAME", .help = "Model plugin to use."},
          {.name = "config",
           .metavar = "PRESET|FILE",
           .help = "Preset of the module, a .toml file, or a config.json of the Hugging Face hub."},
          {.name = "plugin", .metavar = "FILE", .help = "Plugin library to load; may be repeated.", .repeatable = true},
          {.name = "help",
           .metavar = "PATTERN",
           .help = "Show options and leave; --help=PATTERN shows those whose name matches.",
           .value_optional = true}};
}

}  // namespace titan::config
