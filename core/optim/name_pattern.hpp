#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace titan::optim {

/// A regular expression (PCRE2, close to Python's `re`) that is searched for in parameter names.
class NamePattern {
 public:
  /// ConfigError shows the pattern, the reason and the offset.
  explicit NamePattern(std::string pattern);
  ~NamePattern();
  NamePattern(NamePattern&&) noexcept;
  NamePattern& operator=(NamePattern&&) = delete;

  /// Whether the name holds a match anywhere. ConfigError when the pattern backtracks beyond all measure.
  bool matches(std::string_view name) const;
  const std::string& text() const { return text_; }

 private:
  struct Compiled;
  std::string text_;
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace titan::optim
