#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace titan::corpus {

/// Words of one subject, most frequent first. Nouns are singular, verbs infinitives with regular forms.
struct Topic {
  std::string_view name;
  std::string_view nouns;
  std::string_view verbs;
  std::string_view adjectives;
};

/// The subjects, most frequent first.
std::span<const Topic> topics();

/// Splits a list of words at its white space.
std::vector<std::string_view> words_of(std::string_view list);

}  // namespace titan::corpus
