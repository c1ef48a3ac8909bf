#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/app/compare/run_table.hpp"

namespace titan::app {

/// Writes a run's table as a stored reference: a small JSON file, one step a line, with the versions that made it and
/// the run's settings. DataError when it becomes larger than can be read back.
std::string render_reference(const RunTable& table);

/// Whether the text begins as render_reference()'s does.
bool is_stored_reference(std::string_view text);

/// Reads a stored reference, or plain text with a step and a loss a line, as torchtitan's loss files are. DataError
/// names `source` and line.
RunTable read_stored_reference(std::string_view text, const std::string& source,
                               const std::vector<std::string>& columns);

}  // namespace titan::app
