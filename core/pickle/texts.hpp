#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace titan::pickle {

/// Texts with numbers, from 0 in the order in which they came; a text that comes again has its number.
class Texts {
 public:
  /// No text.
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// The text's number, a new one for a new text.
  std::uint32_t number(std::string_view text);
  std::string_view operator[](std::uint32_t number) const;
  std::size_t size() const { return ends_.size(); }

 private:
  std::size_t slot_of(std::string_view text) const;
  void grow();

  std::string bytes_;                 // of all texts, one after the other
  std::vector<std::size_t> ends_;     // in bytes_
  std::vector<std::uint32_t> slots_;  // a hash table of numbers, kNone where free; a power of two of them
};

}  // namespace titan::pickle
