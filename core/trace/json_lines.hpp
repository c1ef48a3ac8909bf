#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace titan::trace {

/// Reads a file of JSON objects, one a line, however long it is. `wants` says, by its text, whether a line is parsed;
/// `use` gets those that are objects. Lines that are none are counted in `missing`, and so is a file that is not there.
/// A last line that was cut off counts as damaged, too.
void read_json_lines(const std::filesystem::path& path, const std::function<bool(std::string_view)>& wants,
                     const std::function<void(const nlohmann::json&)>& use, std::vector<std::string>& missing);

}  // namespace titan::trace
