#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/added_tokens.hpp"

namespace titan::data {

/// What a tokenizer_config.json says, as far as torchtitan reads it.
struct TokenizerConfig {
  std::optional<std::string> bos_token;
  std::optional<std::string> eos_token;
  bool add_bos_token = false;
  bool add_eos_token = false;
  /// Tokens to add as special ones, in order; the id is kNoToken where none is stated.
  std::vector<AddedToken> special_tokens;
};

/// Reads the text of a tokenizer_config.json, whose name errors bear.
TokenizerConfig read_tokenizer_config(std::string_view text, const std::string& name);

}  // namespace titan::data
