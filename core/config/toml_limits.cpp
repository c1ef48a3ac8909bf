#include <algorithm>

#include "core/base/text.hpp"
#include "core/config/toml_error.hpp"
#include "core/config/toml_reader.hpp"

namespace titan::config {

namespace {

/// Walks a TOML text by its strings, comments and punctuation alone: enough to know how deep and how long it is.
class LimitScan {
 public:
  LimitScan(std::string_view text, std::string_view source) : text_(text), source_(source) {}

  void run() {
    check_bytes();
    while (at_ < text_.size()) step();
  }

 private:
  [[noreturn]] void fail(std::size_t offset, std::string_view why) const {
    fail_toml(source_, position_of(text_, offset), why);
  }

  void check_bytes() const {
    if (text_.size() > kTomlMaxBytes) fail(0, concat("larger than ", kTomlMaxBytes, " bytes"));
    if (const std::size_t at = invalid_utf8_at(text_); at != std::string_view::npos) fail(at, "not valid UTF-8");
    if (const std::size_t at = text_.find('\0'); at != std::string_view::npos) fail(at, "NUL character");
  }

  void step() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return skip_string(c);
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return;
    }
    if (c == '.') count(dots_, kTomlMaxDepth, "key has more than ", " parts");
    if (c == '[' || c == '{') count(depth_, kTomlMaxDepth, "nested more than ", " deep");
    if ((c == ']' || c == '}') && depth_ > 0) --depth_;
    if (c == '=' || c == ',' || c == '[') count(values_, kTomlMaxValues, "more than ", " values");
    if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots_ = 0;
    ++at_;
  }

  void count(std::size_t& counter, std::size_t limit, std::string_view before, std::string_view after) const {
    if (++counter > limit) fail(at_, concat(before, limit, after));
  }

  /// Strings in three quotes may span lines; others end with their line at the latest.
  void skip_string(char quote) {
    const std::string fence(3, quote);
    const bool multi_line = text_.substr(at_).starts_with(fence);
    const std::string_view end = multi_line ? std::string_view(fence) : std::string_view(fence).substr(0, 1);
    for (at_ += end.size(); at_ < text_.size(); ++at_) {
      if (text_.substr(at_).starts_with(end)) {
        at_ += end.size();
        return;
      }
      if (text_[at_] == '\n' && !multi_line) return;
      if (text_[at_] == '\\' && quote == '"') ++at_;
    }
  }

  std::string_view text_;
  std::string_view source_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t dots_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

void check_toml_limits(std::string_view text, std::string_view source) { LimitScan(text, source).run(); }

}  // namespace titan::config
