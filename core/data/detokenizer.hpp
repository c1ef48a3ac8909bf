#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_field.hpp"
#include "core/data/vocabulary.hpp"

namespace titan::data {

/// Turns ids back into text. Immutable.
class Detokenizer {
 public:
  enum class Kind { byte_level, spaces_between };

  /// Reads the decoder section: ByteLevel, alone or in a Sequence. DataError names any other.
  static Kind parse(const JsonField& section);

  Detokenizer() = default;
  Detokenizer(const Vocabulary& vocabulary, const TextNormalizer& normalizer, Kind kind);

  /// Text of the ids; ids without token vanish, bytes that are not UTF-8 become U+FFFD.
  std::string decode(std::span<const std::int64_t> ids, bool skip_special_tokens) const;

 private:
  struct Token {
    std::size_t begin = 0;
    std::uint32_t length = 0;
    bool used = false;
    bool special = false;
  };

  Kind kind_ = Kind::byte_level;
  std::string bytes_;
  std::vector<Token> tokens_;  // by id
};

}  // namespace titan::data
