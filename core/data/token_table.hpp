#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace titan::data {

/// Id of no token.
inline constexpr std::uint32_t kNoToken = 0xFFFFFFFF;
/// Largest id that is accepted, so that tables indexed by id stay bounded.
inline constexpr std::uint32_t kMaxTokenId = (1U << 22U) - 1;

/// Maps texts to ids. Texts lie in one buffer: a vocabulary of 128,000 entries takes a few megabytes.
class TokenTable {
 public:
  TokenTable();

  /// Adds a text. Returns false, and changes nothing, when it is there already.
  bool insert(std::string_view text, std::uint32_t id);
  /// The id of a text, or kNoToken.
  std::uint32_t find(std::string_view text) const;

  std::size_t size() const { return entries_.size(); }
  std::string_view text(std::size_t entry) const;
  std::uint32_t id(std::size_t entry) const { return entries_[entry].id; }

 private:
  struct Entry {
    std::size_t offset;
    std::uint32_t length;
    std::uint32_t id;
  };
  std::size_t slot_of(std::string_view text) const;
  void grow();

  std::string texts_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_;  // entry + 1, or 0; open addressing, a power of two, at most half full
};

/// What the merge of a pair of tokens gives, and how early it comes.
struct Merge {
  std::uint32_t rank = kNoToken;
  std::uint32_t id = kNoToken;
};

/// Maps pairs of numbers below kNoToken to merges.
class PairTable {
 public:
  PairTable();

  /// Adds a pair or replaces what it maps to.
  void set(std::uint32_t left, std::uint32_t right, Merge merge);
  /// What a pair maps to; rank kNoToken when it is not there.
  Merge find(std::uint32_t left, std::uint32_t right) const {
    const std::uint64_t key = key_of(left, right);
    for (std::size_t slot = hash(key) & mask_;; slot = (slot + 1) & mask_) {
      if (slots_[slot].key == key) return slots_[slot].merge;
      if (slots_[slot].key == kEmpty) return {};
    }
  }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = kEmpty;
    Merge merge;
  };
  static std::uint64_t key_of(std::uint32_t left, std::uint32_t right) { return (std::uint64_t{left} << 32U) | right; }
  static std::size_t hash(std::uint64_t key) { return (key * 0x9E3779B97F4A7C15ULL) >> 29U; }
  void grow();

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

}  // namespace titan::data
