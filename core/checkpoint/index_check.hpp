#pragma once

#include <string>

#include "core/checkpoint/index.hpp"

namespace titan::checkpoint {

/// Sorts the parts of each tensor by their offset and checks that the index describes one place for every element:
/// names of files, blocks and their number, boxes that tile their tensor, bytes that lie in the file and belong to one
/// part. DataError names `source`, tensor and file.
void check_index(Index& index, const std::string& source);

}  // namespace titan::checkpoint
