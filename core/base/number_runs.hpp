#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace titan {

/// Numbers in order as a text, runs of them joined: "0-3, 7".
std::string number_runs(const std::vector<std::int64_t>& numbers);

}  // namespace titan
