#pragma once

#include <cstdint>
#include <vector>

#include "core/base/json_field.hpp"

namespace titan::data {

/// The post_processor section of a tokenizer.json, as far as it concerns ids: what is put around the text's tokens.
struct PostProcessor {
  std::vector<std::int64_t> prefix;
  std::vector<std::int64_t> suffix;

  /// Reads ByteLevel, TemplateProcessing or a Sequence of them. DataError names any other.
  static PostProcessor parse(const JsonField& section);
};

}  // namespace titan::data
