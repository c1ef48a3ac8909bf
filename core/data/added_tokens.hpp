#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/token_table.hpp"

namespace titan::data {

/// A token outside the BPE vocabulary's merges, recognised in the text as it stands.
struct AddedToken {
  std::string content;
  std::uint32_t id = kNoToken;
  bool single_word = false;  // only where no word character stands beside it
  bool lstrip = false;       // takes the white space on its left with it
  bool rstrip = false;       // and on its right
  bool normalized = true;    // looked for in the normalised text, in its own normalised form
  bool special = false;      // left out when decoding without special tokens
};

/// Finds added tokens in a text: leftmost, then longest. Immutable after the last add().
class AddedTokenFinder {
 public:
  /// Called for each piece in order: a token id, or kNoToken and the text between two tokens.
  using Sink = std::function<void(std::uint32_t id, std::string_view text)>;

  /// Adds a token, looked for as `pattern`, which is not empty.
  void add(const AddedToken& token, std::string_view pattern);
  /// Splits valid UTF-8 at the tokens.
  void split(std::string_view text, const Sink& sink) const;

 private:
  struct Token {
    std::uint32_t id;
    bool single_word;
    bool lstrip;
    bool rstrip;
  };
  struct Found {
    std::size_t end = 0;
    std::uint32_t token = kNoToken;
  };
  Found longest_at(std::string_view text, std::size_t at) const;

  std::vector<Token> tokens_;
  std::array<bool, 256> first_bytes_{};
  PairTable edges_;                                     // (node, byte) -> node in Merge::id
  std::vector<std::uint32_t> token_of_node_{kNoToken};  // node 0 is the root
};

}  // namespace titan::data
