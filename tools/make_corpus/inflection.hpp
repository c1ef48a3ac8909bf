#pragma once

#include <string>
#include <string_view>

namespace titan::corpus {

/// English word forms, by rule and a list of exceptions: enough for the words of the lexicon.
std::string plural(std::string_view noun);
std::string third_person(std::string_view verb);
std::string past(std::string_view verb);
std::string participle(std::string_view verb);  // -ing
/// "a" or "an", whichever the next word asks for.
std::string_view article(std::string_view next_word);
std::string capitalized(std::string_view text);

}  // namespace titan::corpus
