#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "core/checkpoint/dcp/archive_reader.hpp"

namespace titan::checkpoint::testing {

/// Bytes in memory, as a file gives them.
inline RangeOfBytes bytes_of(std::string text) {
  const auto kept = std::make_shared<const std::string>(std::move(text));
  return {kept->size(), [kept](std::uint64_t offset, std::span<char> bytes) {
            std::copy_n(kept->begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
          }};
}

}  // namespace titan::checkpoint::testing
