#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/problems.hpp"
#include "core/config/registry.hpp"

namespace titan::config {

using Words = std::vector<std::string>;

/// A verb and the words after it.
struct Invocation {
  const Verb* verb = nullptr;
  Words words;
};

/// Takes the verb, of one word or two, off a command line (without the program's name); none, or a flag first, means
/// `default_verb`.
/// UsageError lists the verbs when there is no such one.
Invocation split_verb(const Registry& registry, const Words& command_line, std::string_view default_verb);

/// Values of a flag, in order, for what must be known before options are: `--plugin`, `--module`, `--config`.
/// Neither declared nor checked here; "--" ends the search.
std::vector<std::string> flag_values(const Words& words, std::string_view flag);

/// The words after the first "--"; none where there is no such word.
Words words_after_dashes(const Words& words);

/// The pattern of `--help=PATTERN`, empty for `--help` and `-h`; nothing where no help is asked for.
std::optional<std::string> help_pattern(const Words& words);

/// One option set on the command line.
struct CliSetting {
  const Option* option = nullptr;
  std::string text;  // as parse_value() reads it
};

/// A command line read with a registry.
struct CommandLine {
  std::map<std::string, std::vector<std::string>, std::less<>> flags;  // of the verb; an empty text where no value came
  std::vector<CliSetting> settings;                                    // in order: the last one wins
  std::vector<std::string> positionals;
  Words rest;  // after "--", of a verb that takes another command line

  bool has(std::string_view flag) const { return flags.contains(flag); }
  /// The flag's last value, or `otherwise`.
  std::string last(std::string_view flag, std::string_view otherwise = {}) const;
};

/// Reads the words after a verb, for a run of `module`. Unknown and malformed flags go to `problems`; values are not
/// looked at.
CommandLine read_command_line(const Registry& registry, const Verb& verb, std::string_view module, const Words& words,
                              Problems& problems);

/// The flags of every verb that resolves a configuration: --module, --config, --plugin, --help.
std::vector<Flag> run_flags();

}  // namespace titan::config
