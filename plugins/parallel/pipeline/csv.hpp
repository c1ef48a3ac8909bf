#pragma once

#include <string>
#include <string_view>

#include "plugins/parallel/pipeline/compute_order.hpp"

namespace titan::parallel::pipeline {

/// Reads a schedule as torch writes it: one line a rank, actions separated by commas, an empty one is a pause.
/// A byte order mark is passed over. `source` names it in errors. ConfigError names line, position and word.
Rows parse_csv(std::string_view text, std::string_view source);

/// Reads a regular file of at most a few mebibytes. InputError names it when it is none or cannot be read, ConfigError
/// when it is larger.
std::string read_csv_file(const std::string& path);

/// Whether a row has a send or a receive: then there is nothing to add.
bool has_transfers(const Rows& rows);

}  // namespace titan::parallel::pipeline
