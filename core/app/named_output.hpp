#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "core/config/config.hpp"

namespace titan::app {

/// Writes a file that a person gave the name of, in one step as write_file_atomically() does. A symbolic link stays,
/// the file that it stands for is written. CreateError, and nothing is touched: the name is one of `inputs`, a file
/// that a run wrote into its folder (one of `inputs`, or there is its config.toml), a device or pipe, what this program
/// prints to, or a link to nothing.
void write_named_output(const std::filesystem::path& path, std::string_view content,
                        const std::vector<std::filesystem::path>& inputs = {});

/// What a run with these options reads: the file of the options, and what they name.
std::vector<std::filesystem::path> inputs_of(const config::Config& config);

}  // namespace titan::app
