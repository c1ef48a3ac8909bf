#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/make_corpus/lexicon.hpp"
#include "tools/make_corpus/random.hpp"

namespace titan::corpus {

/// Writes the sentences of one document: its subject, the few things and people it keeps coming back to, and its tense.
class Writer {
 public:
  Writer(Random& random, const Topic& topic);

  /// One sentence, with capital and full stop.
  std::string sentence();
  /// Sentences with a space between them.
  std::string paragraph(std::size_t sentences);
  /// A few words about the subject, without capital or full stop.
  std::string phrase();
  /// A noun, verb or adjective of the subject, in some form.
  std::string word();
  /// A short question, with its mark.
  std::string question();

  const std::string& person() const { return people_[0]; }
  const std::string& other_person() const { return people_[1]; }

 private:
  template <std::size_t count>
  std::string_view draw(const std::array<std::string_view, count>& frames, unsigned head);
  std::string clause();
  std::string expand(std::string_view frame);
  std::string fill(std::string_view slot);
  std::string theme();
  std::string noun();
  std::string any_of(const std::vector<std::string_view>& words);
  std::string common_of(const std::vector<std::string_view>& words);
  std::string unused(const std::vector<std::string_view>& words);
  std::string adjective();
  std::string verb();

  Random& random_;
  std::vector<std::string_view> nouns_;
  std::vector<std::string_view> verbs_;
  std::vector<std::string_view> adjectives_;
  std::vector<std::string_view> themes_;  // nouns that this document is about
  std::vector<std::string> people_;
  std::string_view last_frame_;
  std::vector<std::string_view> used_;  // nouns of the clause in progress
};

}  // namespace titan::corpus
