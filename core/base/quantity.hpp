#pragma once

#include <cstdint>
#include <string>

namespace titan {

/// A number of bytes for a person, in binary units: "612 B", "1.5 GiB".
std::string bytes_text(std::uint64_t bytes);

/// A duration for a person, with one decimal, two below a second: "0.25 s", "12.3 s".
std::string seconds_text(double seconds);

}  // namespace titan
