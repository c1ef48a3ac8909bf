#pragma once

#include <string_view>

namespace titan::checkpoint {

/// Says whether a name that a file gave, or that becomes a file's, stays in one folder: a path component of 1 to 255
/// bytes without control characters, neither "." nor "..".
bool is_file_name(std::string_view name);

}  // namespace titan::checkpoint
