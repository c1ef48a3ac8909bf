#include "core/config/cli_reader.hpp"

#include <algorithm>
#include <utility>

#include "core/base/text.hpp"
#include "core/config/parse.hpp"
#include "core/config/suggestion.hpp"

namespace titan::config {

namespace {

using OptionalText = std::optional<std::string>;

bool is_flag(std::string_view word) { return word.size() > 2 && word.starts_with("--"); }

/// "-x", but neither "-" nor "-1" nor "-.5".
bool is_short_flag(std::string_view word) {
  return word.size() > 1 && word[0] == '-' &&
         ((word[1] >= 'a' && word[1] <= 'z') || (word[1] >= 'A' && word[1] <= 'Z'));
}

/// Dashes and underscores mean the same in names.
std::string normalized(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, '-', '_');
  return out;
}

std::string in_quotes(std::string_view word) { return concat('"', shortened(printable(word), 100), '"'); }

class Reader {
 public:
  Reader(const Registry& registry, const Verb& verb, std::string_view module, const Words& words, Problems& problems)
      : registry_(registry), verb_(verb), module_(module), words_(words), problems_(problems) {}

  CommandLine read() {
    bool ended = false;
    while (at_ < words_.size()) {
      const std::string& word = words_[at_++];
      if (ended) {
        positional(word, " (options after -- are not read)");
      } else if (word == "--") {
        ended = true;
        if (!verb_.rest.empty()) take_rest();
      } else if (word == "-h") {
        out_.flags["help"].emplace_back();
      } else if (is_flag(word) || is_short_flag(word)) {
        named(word);
      } else {
        positional(word, std::exchange(after_boolean_, {}));
      }
    }
    return std::move(out_);
  }

 private:
  void take_rest() {
    out_.rest.assign(words_.begin() + static_cast<std::ptrdiff_t>(at_), words_.end());
    at_ = words_.size();
  }

  void named(const std::string& word) {
    after_boolean_.clear();
    const std::size_t sign = word.find('=');
    const OptionalText value = sign == std::string::npos ? OptionalText() : word.substr(sign + 1);
    const std::string name = is_flag(word) ? normalized(word.substr(2, sign - 2)) : std::string();
    const auto is_named = [&](const Flag& flag) { return normalized(flag.name) == name; };
    if (const auto found = std::ranges::find_if(verb_.flags, is_named); found != verb_.flags.end()) {
      take_flag(*found, value);
    } else if (const Option* option = find_option(name); option != nullptr) {
      take_option(*option, value);
    } else if (const Option* denied = find_denied(name); denied != nullptr) {
      deny(*denied, word, value);
    } else {
      unknown(word.substr(0, sign), name, value.has_value());
    }
  }

  const Option* find_option(std::string_view name) const {
    return verb_.takes_options ? registry_.find(name, module_) : nullptr;
  }

  /// The boolean option that `--section.no_key` switches off, or null.
  const Option* find_denied(std::string_view name) const {
    const std::string_view key = key_of(name);
    if (!key.starts_with("no_")) return nullptr;
    const Option* option = find_option(concat(name.substr(0, name.size() - key.size()), key.substr(3)));
    return option != nullptr && option->type == Type::boolean ? option : nullptr;
  }

  bool next_is_value() const { return at_ < words_.size() && !words_[at_].starts_with("--"); }

  /// What to write when the next word looks like a flag and is meant as a value.
  std::string value_hint(std::string_view name) const {
    if (at_ == words_.size() || !is_flag(words_[at_])) return {};
    return concat(" (write --", name, "=", shortened(printable(words_[at_]), 100), " if that is the value)");
  }

  void take_flag(const Flag& flag, const OptionalText& value) {
    std::vector<std::string>& values = out_.flags[flag.name];
    if (flag.metavar.empty() && value) {
      problems_.add_usage(concat("--", flag.name, ": takes no value, got ", in_quotes(*value)));
    } else if (value) {
      values.push_back(*value);
    } else if (flag.metavar.empty() || flag.value_optional) {
      values.emplace_back();
    } else if (next_is_value()) {
      values.push_back(words_[at_++]);
    } else {
      problems_.add_usage(concat("--", flag.name, ": needs a value: ", flag.metavar, value_hint(flag.name)));
    }
  }

  void take_option(const Option& option, const OptionalText& value) {
    if (value) {
      out_.settings.push_back({&option, *value});
    } else if (option.type == Type::boolean) {
      out_.settings.push_back({&option, "true"});
      after_boolean_ = concat("; a boolean takes its value with an equals sign: --", option.name, "=false");
    } else if (next_is_value()) {
      out_.settings.push_back({&option, option.type == Type::strings ? take_list() : words_[at_++]});
    } else {
      problems_.add_usage(concat("--", option.name, ": needs a value: ", expectation(option), value_hint(option.name)));
    }
  }

  /// All words up to the next flag, as one comma-separated text.
  std::string take_list() {
    std::vector<std::string> items;
    while (next_is_value() && (items.empty() || !is_short_flag(words_[at_]))) items.push_back(words_[at_++]);
    return join(items, ",");
  }

  void deny(const Option& option, const std::string& word, const OptionalText& value) {
    if (!value) {
      out_.settings.push_back({&option, "false"});
      return;
    }
    problems_.add_usage(concat(printable(word.substr(0, word.find('='))), ": takes no value, got ", in_quotes(*value),
                               "; write --", option.name, "=true or =false"));
  }

  /// Complains, and skips the words that seem to be the flag's values.
  void unknown(const std::string& flag, const std::string& name, bool has_joined_value) {
    while (!has_joined_value && next_is_value() && !is_short_flag(words_[at_])) ++at_;
    const bool module_is_unknown = !module_.empty() && !registry_.has_module(module_);
    if (is_model_option(name) && module_is_unknown) return;  // the module was complained about
    if (!problems_.shows_more()) return problems_.add_usage({});
    std::string hint = flag_hint(registry_, verb_, name);
    if (hint.empty() && verb_.takes_options) hint = option_hint(registry_, module_, name, "--");
    problems_.add_usage(concat(shortened(printable(flag), 100), ": unknown option", hint));
  }

  void positional(const std::string& word, std::string_view hint) {
    if (out_.positionals.size() < verb_.positionals.size()) {
      out_.positionals.push_back(word);
    } else {
      problems_.add_usage(concat("unexpected argument: ", in_quotes(word), hint));
    }
  }

  const Registry& registry_;
  const Verb& verb_;
  std::string_view module_;
  const Words& words_;
  Problems& problems_;
  std::size_t at_ = 0;
  std::string after_boolean_;  // hint for a word right after a boolean flag
  CommandLine out_;
};

}  // namespace

CommandLine read_command_line(const Registry& registry, const Verb& verb, std::string_view module, const Words& words,
                              Problems& problems) {
  return Reader(registry, verb, module, words, problems).read();
}

}  // namespace titan::config
