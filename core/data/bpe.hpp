#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/data/token_table.hpp"

namespace titan::data {

/// A byte-level BPE vocabulary, ready to encode words.
struct BpeTables {
  std::array<std::uint32_t, 256> byte_tokens{};  // token of each byte, or kNoToken: such bytes are dropped
  std::uint32_t unknown_token = kNoToken;        // stands for a byte without token when there is one
  bool fuse_unknown = false;                     // one unknown token for a run of such bytes
  PairTable merges;
  bool whole_words_first = false;  // a word that is a token becomes that token, whatever the merges say
  TokenTable words;                // by bytes; filled only for whole_words_first
};

/// Remembers the tokens of short words. Fixed size: a new word takes the place of an older one.
class WordCache {
 public:
  WordCache();

  /// Appends the tokens of a remembered word. Returns false when it is not remembered.
  bool append(std::string_view word, std::uint64_t hash, std::vector<std::int64_t>& out) const;
  /// Remembers a word when it is short enough.
  void remember(std::string_view word, std::uint64_t hash, const std::uint32_t* tokens, std::size_t count);

 private:
  static constexpr std::size_t kMaxBytes = 30;
  static constexpr std::size_t kMaxTokens = 8;
  struct Slot {
    std::uint8_t length = 0;
    std::uint8_t count = 0;
    std::array<char, kMaxBytes> word;
    std::array<std::uint32_t, kMaxTokens> tokens;
  };
  std::vector<Slot> slots_;
};

/// Encodes words with one set of tables. Has buffers and a cache: one thread at a time.
class BpeEncoder {
 public:
  explicit BpeEncoder(const BpeTables& tables) : tables_(tables) {}

  /// Appends the tokens of one word (a piece that the pre-tokenizer cut out), given as bytes.
  void encode(std::string_view word, std::vector<std::int64_t>& out);

 private:
  struct Candidate {
    std::uint32_t rank;
    std::uint32_t position;
    std::uint32_t id;  // of the merged token
  };
  static bool comes_later(const Candidate& a, const Candidate& b);
  void fill_symbols(std::string_view word);
  void merge_by_scan();
  void merge_by_queue();
  void link_symbols();
  void consider(std::uint32_t left);
  void apply(const Candidate& candidate);

  const BpeTables& tables_;
  WordCache cache_;
  std::vector<std::uint32_t> symbols_;
  std::vector<std::uint32_t> previous_;
  std::vector<std::uint32_t> next_;
  std::vector<Candidate> queue_;
  std::vector<Merge> pairs_;
};

}  // namespace titan::data
