#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace titan::observability {

/// Without the blanks around it.
std::string_view trimmed(std::string_view text);

/// Splits at every separator and trims the parts; always one part at least. They view into `text`.
std::vector<std::string_view> split_parts(std::string_view text, char separator);

/// A text to be shown: bytes that steer a terminal as \x00, and of a long one only the begin.
std::string quotable(std::string_view text);

/// "; did you mean A, B?": those of the names that hold the word or are spelled alike, a few of them; empty where none
/// is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& names);

}  // namespace titan::observability
