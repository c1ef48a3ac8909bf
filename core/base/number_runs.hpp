#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace titan {

/// Runs of numbers that follow each other, in their order: "0-3", "7".
std::vector<std::string> runs_of(const std::vector<std::int64_t>& numbers);

/// Numbers in order as a text, runs of them joined: "0-3, 7".
std::string number_runs(const std::vector<std::int64_t>& numbers);

}  // namespace titan
