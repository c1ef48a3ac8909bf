#pragma once

#include <string>
#include <vector>

namespace titan::app {

/// Cells of one line.
using Row = std::vector<std::string>;

/// Writes rows with their columns under each other, two blanks before the first; rows may be of different lengths.
std::string aligned(const std::vector<Row>& rows);

}  // namespace titan::app
