#pragma once

#include <string>
#include <string_view>

namespace titan::data {

/// Takes the text out of one line of JSON: an object with a string "text", other members ignored. std::invalid_argument
/// says what is wrong, with the column.
std::string text_of_json_line(std::string_view line);

}  // namespace titan::data
