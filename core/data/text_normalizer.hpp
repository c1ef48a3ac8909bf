#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/json_field.hpp"
#include "core/data/unicode.hpp"

namespace titan::data {

/// The normalizer section of a tokenizer.json: Unicode normal forms, one after another. Immutable.
class TextNormalizer {
 public:
  /// Reads NFC, NFD, NFKC, NFKD or a Sequence of them. DataError names any other.
  static TextNormalizer parse(const JsonField& section);

  bool is_identity() const { return forms_.empty(); }
  std::string apply(std::string_view text) const;

 private:
  void add(const JsonField& section);

  std::vector<NormalForm> forms_;
};

}  // namespace titan::data
