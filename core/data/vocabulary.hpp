#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/json_field.hpp"
#include "core/data/added_tokens.hpp"
#include "core/data/text_normalizer.hpp"
#include "core/data/token_table.hpp"

namespace titan::data {

/// The BPE vocabulary together with the added tokens: which id a text has, and what an id decodes to.
class Vocabulary {
 public:
  /// Takes the entries of model.vocab. DataError, at `where`, when an id stands for two entries or most ids are unused.
  Vocabulary(const TokenTable& entries, const JsonField& where);

  /// Adds a token, or replaces the properties of one that was added. A token that is no entry takes the next free id.
  /// DataError, at `where`, when the token states another id than it gets.
  void add(AddedToken token, const JsonField& where);
  /// The id of an entry or added token, or kNoToken.
  std::uint32_t find(std::string_view content) const;

  /// One more than the largest id.
  std::uint32_t size() const { return static_cast<std::uint32_t>(tokens_.size()); }

  /// Splitters for the added tokens that are looked for before, and after, normalising.
  AddedTokenFinder finder(bool normalized, const TextNormalizer& normalizer) const;

  bool has(std::int64_t id) const;
  bool is_special(std::int64_t id) const { return tokens_[static_cast<std::size_t>(id)].special; }
  /// The text of the token as it stands in the file. `id` is one that has() knows.
  const std::string& content(std::int64_t id) const { return tokens_[static_cast<std::size_t>(id)].content; }
  const std::vector<AddedToken>& added() const { return added_; }

 private:
  struct Token {
    std::string content;
    bool used = false;
    bool special = false;
  };
  void take(std::uint32_t id, std::string_view content);

  const TokenTable& entries_;
  std::vector<Token> tokens_;  // by id
  std::vector<AddedToken> added_;
  std::unordered_map<std::string, std::size_t> added_by_content_;
};

}  // namespace titan::data
