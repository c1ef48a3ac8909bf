#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace titan::data {

/// What a thread needs to match: buffers and step limits. One serves any number of patterns, one call at a time.
class RegexScratch {
 public:
  RegexScratch();
  ~RegexScratch();
  RegexScratch(RegexScratch&&) noexcept;
  RegexScratch& operator=(RegexScratch&&) noexcept;

 private:
  friend class Regex;
  struct Buffers;
  std::unique_ptr<Buffers> buffers_;
};

/// Byte range [begin, end) of a match.
struct Match {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// A compiled PCRE2 pattern with UTF and UCP. Immutable: any thread may match, each with its own scratch.
class Regex {
 public:
  /// Compiles PCRE2 syntax. std::invalid_argument carries the compiler's reason.
  explicit Regex(std::string pattern);

  /// Finds the first match at or after `start`. DataError when the pattern takes too many steps on this text.
  bool find(std::string_view text, std::size_t start, RegexScratch& scratch, Match& match) const;

 private:
  struct Code;
  std::string pattern_;
  std::shared_ptr<const Code> code_;
};

}  // namespace titan::data
