#pragma once

#include <string>

namespace titan::observability {

/// "1234567.25" as "1,234,567.25".
std::string grouped(std::string digits);

}  // namespace titan::observability
