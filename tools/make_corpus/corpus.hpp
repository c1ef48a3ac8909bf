#pragma once

#include <cstddef>
#include <string>

namespace titan::corpus {

inline constexpr std::size_t kNumDocuments = 2000;

/// The practice corpus as JSON lines: English-like documents of several forms and subjects, always the same.
std::string make_corpus();

}  // namespace titan::corpus
