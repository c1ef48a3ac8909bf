#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

namespace titan::parallel {

inline constexpr std::int64_t kIgnoredLabel = -100;

/// The words of a vocabulary of `size` that this rank has: `count` of them from `first`, maybe none.
struct VocabularyPart {
  std::int64_t first = 0, count = 0, size = 0;

  /// Where this rank has the rows of words, int64, and whether it has them, bool; both as `words`. The row of a word
  /// that it does not have is 0.
  struct Rows {
    at::Tensor row, is_here;
  };
  Rows find(const at::Tensor& words) const;

  /// InternalError, naming `module`, for a word that the vocabulary does not have; kIgnoredLabel is allowed in labels.
  /// Looks at words on the CPU only: elsewhere it would have to wait for them.
  void check(std::string_view module, const at::Tensor& words, bool are_labels) const;
};

}  // namespace titan::parallel
