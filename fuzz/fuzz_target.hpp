#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/error.hpp"

/// What libFuzzer, and the replay, call with each input.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace titan::fuzz {

/// Runs a parser on an input. Its only way to refuse one is a DataError; whatever else it throws ends the program.
template <class Parser>
int run(const std::uint8_t* data, std::size_t size, const Parser& parse) {
  try {
    parse(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const DataError&) {
    return 0;  // refused, as it should be
  }
  return 0;
}

/// Ends the program when a property of what was parsed does not hold.
inline void expect(bool holds) {
  if (!holds) __builtin_trap();
}

}  // namespace titan::fuzz
