#include "core/data/regex_syntax.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

#include "core/base/text.hpp"

namespace titan::data {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Says whether the name of a property is that of a script: neither a category (one or two characters) nor one of the
/// properties that both engines know by the same name.
bool is_script_name(std::string_view name) {
  constexpr std::array<std::string_view, 5> kProperties = {"Any", "Alphabetic", "Lowercase", "Uppercase",
                                                           "White_Space"};
  return name.size() > 2 && is_letter(name[0]) &&
         std::find(kProperties.begin(), kProperties.end(), name) == kProperties.end();
}

/// Walks over a pattern once, copying what means the same in both engines.
class Translator {
 public:
  explicit Translator(std::string_view pattern) : pattern_(pattern) {}

  std::string run() {
    while (at_ < pattern_.size()) step();
    return out_;
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... what) const {
    throw std::invalid_argument(concat(what..., ", at byte ", at_, " of the pattern"));
  }

  bool next_is(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }

  void copy(std::size_t count) {
    out_ += pattern_.substr(at_, count);
    at_ += count;
  }

  void step() {
    switch (pattern_[at_]) {
      case '\\':
        return escape();
      case '[':
        return open_class();
      case '(':
        return open_group();
      case '{':
        return quantifier();
      default:
        return copy(1);
    }
  }

  void escape() {
    if (at_ + 1 >= pattern_.size()) refuse("nothing follows the last backslash");
    const char c = pattern_[at_ + 1];
    if (c == 'p' || c == 'P') return property();
    if (c == 's' || c == 'S') return rewrite(c == 's' ? "\\p{White_Space}" : "\\P{White_Space}");
    if (c == 'w' || c == 'W') return word(c == 'W');
    if (c == 'x') return hexadecimal();
    constexpr std::string_view kSame = "dDrntfeaAzZ";
    if (is_digit(c) || (is_letter(c) && kSame.find(c) == std::string_view::npos)) {
      refuse("\\", c, " is not supported: it differs between regular expression engines");
    }
    copy(2);
  }

  void rewrite(std::string_view replacement) {
    out_ += replacement;
    at_ += 2;
  }

  // PCRE2's own \w leaves out marks and connectors. Outside of classes Oniguruma also takes the numbers of Latin-1.
  void word(bool negated) {
    constexpr std::string_view kMembers = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}";
    constexpr std::string_view kLatin1 = "\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}";
    if (in_class_) {
      if (negated) refuse("\\W in a class");
      return rewrite(kMembers);
    }
    rewrite(concat(negated ? "[^" : "[", kMembers, kLatin1, ']'));
  }

  void hexadecimal() {
    if (next_is("\\x{")) return copy(3);
    const bool raw_byte = at_ + 2 < pattern_.size() && !is_digit(pattern_[at_ + 2]);
    if (raw_byte || (at_ + 2 < pattern_.size() && pattern_[at_ + 2] > '7')) {
      refuse("\\x beyond 7F names a byte: write \\x{...}");
    }
    copy(2);
  }

  // A script's name means the script extensions in PCRE2 unless it says otherwise.
  void property() {
    if (at_ + 2 >= pattern_.size() || pattern_[at_ + 2] != '{') refuse("\\p needs braces");
    const std::size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos) refuse("\\p{ is not closed");
    const std::string_view name = pattern_.substr(at_ + 3, end - at_ - 3);
    if (is_script_name(name)) {
      out_ += concat(pattern_.substr(at_, 3), "sc:", name, '}');
    } else {
      out_ += pattern_.substr(at_, end + 1 - at_);
    }
    at_ = end + 1;
  }

  void open_class() {
    in_class_ = true;
    copy(next_is("[^") ? 2 : 1);
    if (next_is("]")) refuse("an empty class");
    while (at_ < pattern_.size() && pattern_[at_] != ']') {
      if (pattern_[at_] == '[') refuse("a class inside a class");
      if (next_is("&&")) refuse("an intersection of classes");
      if (pattern_[at_] == '\\') {
        escape();
      } else {
        copy(1);
      }
    }
    if (at_ == pattern_.size()) refuse("a class is not closed");
    copy(1);
    in_class_ = false;
  }

  void open_group() {
    if (!next_is("(?")) return copy(1);
    constexpr std::array<std::string_view, 8> kSame = {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?-i:"};
    for (const std::string_view opening : kSame) {
      if (next_is(opening)) return copy(opening.size());
    }
    // Further on, the reach of a bare option over alternatives differs between the engines.
    if (next_is("(?i)") && at_ == 0) return copy(4);
    refuse("a group that begins with ", pattern_.substr(at_, 4), " is not supported");
  }

  // After an interval, + is possessive in PCRE2 and a repetition in Oniguruma; ? makes {n} optional there.
  void quantifier() {
    const std::size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos || at_ + 1 >= pattern_.size() || !is_digit(pattern_[at_ + 1])) {
      refuse("a brace that is no interval {n}, {n,} or {n,m}: write \\{");
    }
    const bool exact = pattern_.substr(at_, end - at_).find(',') == std::string_view::npos;
    copy(end + 1 - at_);
    if (next_is("+") || (exact && next_is("?"))) refuse("an interval followed by ", pattern_[at_]);
  }

  std::string_view pattern_;
  std::size_t at_ = 0;
  bool in_class_ = false;
  std::string out_;
};

}  // namespace

std::string oniguruma_to_pcre2(std::string_view pattern) { return Translator(pattern).run(); }

std::string escape_regex(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = is_letter(c) || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
    if (!plain) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace titan::data
