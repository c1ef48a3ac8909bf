#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace titan {

/// The unsigned number that the bytes are, 8 at most.
inline std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8U | static_cast<unsigned char>(bytes[i]);
  return number;
}

/// Appends the lowest `width` bytes of a number.
inline void append_little_endian(std::string& out, std::uint64_t number, unsigned width) {
  for (unsigned i = 0; i < width; ++i) out.push_back(static_cast<char>(number >> (8 * i) & 0xffU));
}

}  // namespace titan
