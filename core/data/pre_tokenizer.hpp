#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/base/json_field.hpp"
#include "core/data/regex.hpp"

namespace titan::data {

/// What becomes of the text that a splitting pattern matched.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// One step of splitting: every piece is split on its own.
struct SplitStep {
  Regex pattern;
  SplitBehavior behavior = SplitBehavior::isolated;
  bool invert = false;            // the gaps count as the matches
  bool add_prefix_space = false;  // before splitting, a space is put before a piece that has none
};

/// Cuts text into the words that BPE works on. Immutable.
class PreTokenizer {
 public:
  using Sink = std::function<void(std::string_view)>;

  /// Reads the pre_tokenizer section: ByteLevel, alone or as the last of a Sequence, after Split and Digits.
  static PreTokenizer parse(const JsonField& section);

  /// Calls `sink` for each word, in order. The words are gone when it returns.
  void split(std::string_view text, RegexScratch& scratch, const Sink& sink) const;

 private:
  void add(const JsonField& section);
  void add_split(const JsonField& section);
  void add_byte_level(const JsonField& section);
  void run(std::size_t step, std::string_view text, RegexScratch& scratch, const Sink& sink) const;

  std::vector<SplitStep> steps_;
  bool last_adds_space_ = false;  // ByteLevel without a pattern of its own, with add_prefix_space
  bool complete_ = false;         // ByteLevel was read
};

/// Cuts `text` by one pattern as `behavior` says, in order, leaving out empty pieces.
void split_by_pattern(const SplitStep& step, std::string_view text, RegexScratch& scratch,
                      const PreTokenizer::Sink& sink);

}  // namespace titan::data
