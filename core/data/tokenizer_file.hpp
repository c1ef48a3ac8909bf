#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/token_table.hpp"

namespace titan::data {

/// Pairs of texts, in one buffer.
class MergeList {
 public:
  /// Adds one side of a merge; every second call completes one.
  void append(std::string_view text);
  std::size_t size() const { return ends_.size() / 2; }
  std::string_view left(std::size_t merge) const { return text(2 * merge); }
  std::string_view right(std::size_t merge) const { return text(2 * merge + 1); }

 private:
  std::string_view text(std::size_t index) const;

  std::string texts_;
  std::vector<std::size_t> ends_;
};

/// A tokenizer.json: its two large tables, and the rest as a JSON value in which they are empty.
struct TokenizerFile {
  nlohmann::json sections;
  TokenTable vocab;
  MergeList merges;
};

/// Reads the text of a tokenizer.json, whose name errors bear. Memory stays in proportion to the text. DataError: not
/// JSON, nested too deeply, a token twice, an id that is no number from 0 to kMaxTokenId, a merge that is not two
/// texts.
TokenizerFile read_tokenizer_file(std::string_view text, const std::string& name);

}  // namespace titan::data
