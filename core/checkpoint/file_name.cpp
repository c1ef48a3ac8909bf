#include "core/checkpoint/file_name.hpp"

#include <algorithm>

namespace titan::checkpoint {

bool is_file_name(std::string_view name) {
  constexpr std::size_t kLongest = 255;  // NAME_MAX
  if (name.empty() || name.size() > kLongest || name == "." || name == "..") return false;
  return std::none_of(name.begin(), name.end(),
                      [](char c) { return c == '/' || static_cast<unsigned char>(c) < 0x20U || c == 0x7F; });
}

}  // namespace titan::checkpoint
