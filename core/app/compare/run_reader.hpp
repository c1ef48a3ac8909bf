#pragma once

#include <string>
#include <vector>

#include "core/app/compare/run_table.hpp"

namespace titan::app {

/// Reads a run's metrics, from what nobody vouches for: a dump folder (its metrics.jsonl, and config.toml where there
/// is one), a .jsonl file of rows, or a stored reference (stored_reference.hpp). InputError when there is no such file;
/// DataError, with file and line, when its content is wrong.
RunTable read_run(const std::string& name, const std::vector<std::string>& columns);

/// Reads rows of JSON, one object a line with an integer "step". Of several rows of a step the last one counts: a run
/// that was resumed wrote it again.
RunTable read_metric_rows(const std::string& text, const std::string& source, const std::vector<std::string>& columns);

}  // namespace titan::app
