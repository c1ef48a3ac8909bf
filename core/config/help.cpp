#include "core/config/help.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/text.hpp"
#include "core/config/format.hpp"
#include "core/config/parse.hpp"

namespace titan::config {

namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kTextColumn = 34;

std::string lower_with_underscores(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c == '-') c = '_';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// Number of characters; a line of help is measured in them, not in bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

/// Breaks a text at blanks into lines of at most `width` characters, each after `indent` blanks but the first.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  std::size_t used = indent;
  for (const std::string& word : split(text, ' ')) {
    const std::size_t length = width_of(word);
    if (used > indent && used + 1 + length > width) {
      out += concat("\n", std::string(indent, ' '));
      used = indent;
    }
    if (used > indent) {
      out += ' ';
      ++used;
    }
    out += word;
    used += length;
  }
  return out + "\n";
}

/// A name, and its text beside it; below it where the name is long.
std::string entry(const std::string& name, std::string_view text, std::size_t width) {
  const std::string left = std::string(kIndent, ' ') + name;
  const bool beside = width_of(left) + 2 <= kTextColumn;
  const std::string gap =
      beside ? std::string(kTextColumn - width_of(left), ' ') : concat("\n", std::string(kTextColumn, ' '));
  return concat(left, gap, wrapped(text, kTextColumn, width));
}

std::string metavar_of(const Option& option) {
  if (!option.metavar.empty()) return option.metavar;
  switch (option.type) {
    case Type::boolean:
      return "";
    case Type::integer:
      return "INT";
    case Type::floating:
      return "FLOAT";
    case Type::path:
      return "PATH";
    case Type::strings:
      return "TEXT,...";
    case Type::tables:
      return "JSON";
    case Type::string:
      break;
  }
  return option.choices.empty() ? "TEXT" : concat("{", join(option.choices, ","), "}");
}

std::string forms_of(const Option& option) {
  if (option.type != Type::boolean) return concat("--", option.name, " ", metavar_of(option));
  const std::string_view section = section_of(option.name);
  return concat("--", option.name, ", --", section, section.empty() ? "" : ".", "no_", key_of(option.name));
}

std::string shown_default(const Option& option) {
  const std::string value = to_text(option.default_value);
  if (!value.empty()) return printable(value);
  return option.type == Type::strings ? "empty" : "\"\"";
}

std::string text_of(const Option& option) {
  // Choices stand beside the name already, and a boolean's values are its two forms.
  const bool is_told = option.type == Type::boolean || (option.type == Type::string && !option.choices.empty());
  const std::string accepted = is_told && !option.nullable ? std::string() : expectation(option) + "; ";
  return concat(option.help, option.help.empty() ? "(" : " (", accepted, "default: ", shown_default(option), ")");
}

class Help {
 public:
  Help(const Registry& registry, const HelpRequest& request) : registry_(registry), request_(request) {}

  std::string render() {
    if (request_.pattern.empty() || !request_.group.empty()) add_usage();
    for (const std::string& owner : owners()) add_owner(owner);
    if (out_.empty()) out_ = concat("No option or preset matches \"", printable(request_.pattern), "\".\n");
    return out_;
  }

 private:
  bool is_asked_for(std::string_view name) const { return matches_help_pattern(name, request_.pattern); }

  void add_usage() {
    const Verb* verb = request_.verb;
    std::string words =
        verb != nullptr ? verb->name : concat(request_.group, request_.group.empty() ? "" : " ", "VERB");
    for (const std::string& word : verb == nullptr ? std::vector<std::string>{} : verb->positionals) {
      words += concat(" ", word);
    }
    const bool takes_options = verb == nullptr ? request_.group.empty() : verb->takes_options;
    words += concat(" [flags]", takes_options ? " [options]" : "");
    if (verb != nullptr && !verb->rest.empty()) words += concat(" -- ", verb->rest);
    out_ += concat("usage: titan ", words, "\n");
    if (verb == nullptr) {
      out_ += "\nverbs:\n";
      for (const Verb& known : registry_.verbs()) {
        const bool is_listed = request_.group.empty() || known.name.starts_with(request_.group + " ");
        if (is_listed) out_ += entry(known.name, known.summary, request_.width);
      }
      return;
    }
    out_ += concat("\n", wrapped(verb->summary, 0, request_.width), "\nflags:\n");
    for (const Flag& flag : verb->flags) {
      const std::string value = flag.value_optional ? concat("[=", flag.metavar, "]") : concat(" ", flag.metavar);
      out_ += entry(concat("--", flag.name, flag.metavar.empty() ? "" : value), flag.help, request_.width);
    }
  }

  /// The core first.
  std::vector<std::string> owners() const {
    if (request_.verb != nullptr && !request_.verb->takes_options) return {};
    if (!request_.group.empty() && request_.pattern.empty()) return {};
    std::set<std::string> others(registry_.modules().begin(), registry_.modules().end());
    for (const Option* option : registry_.options()) others.insert(option->owner);
    std::vector<std::string> names;
    if (others.erase("titan") != 0) names.emplace_back("titan");
    names.insert(names.end(), others.begin(), others.end());
    return names;
  }

  void add_owner(const std::string& owner) {
    std::map<std::string_view, std::string> sections;
    for (const Option* option : registry_.options()) {
      if (option->owner != owner || option->hidden || !is_asked_for(option->name)) continue;
      sections[section_of(option->name)] += entry(forms_of(*option), text_of(*option), request_.width);
    }
    std::string presets;
    for (const Preset* preset : registry_.presets(owner)) {
      if (is_asked_for(preset->name)) presets += entry(preset->name, text_of(*preset), request_.width);
    }
    if (sections.empty() && presets.empty()) return;
    out_ += concat(out_.empty() ? "" : "\n", "=== ", owner == "titan" ? "titan" : concat("plugin ", owner), " ===\n");
    for (const auto& [section, lines] : sections) {
      out_ += concat("\n", section.empty() ? "general" : section, ":\n", lines);
    }
    if (!presets.empty()) out_ += concat("\npresets (--module ", owner, " --config NAME):\n", presets);
  }

  static std::string text_of(const Preset& preset) {
    return concat(preset.summary, preset.base.empty() ? "" : concat(" (based on ", preset.base, ")"));
  }
  static std::string text_of(const Option& option) { return config::text_of(option); }

  const Registry& registry_;
  const HelpRequest& request_;
  std::string out_;
};

}  // namespace

bool matches_help_pattern(std::string_view name, std::string_view pattern) {
  while (pattern.starts_with('-')) pattern.remove_prefix(1);
  const std::string plain = lower_with_underscores(pattern);
  const std::string lower = lower_with_underscores(name);
  if (plain.find_first_of("*?") == std::string::npos) return lower.find(plain) != std::string::npos;
  return ::fnmatch(plain.c_str(), lower.c_str(), 0) == 0;
}

std::string render_help(const Registry& registry, const HelpRequest& request) {
  return Help(registry, request).render();
}

}  // namespace titan::config
