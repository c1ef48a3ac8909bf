#include "core/data/pre_tokenizer.hpp"

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/data/regex_syntax.hpp"
#include "core/data/unicode.hpp"

namespace titan::data {

namespace {

constexpr std::size_t kMaxSteps = 16;
constexpr const char* kByteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

struct Piece {
  std::size_t begin;
  std::size_t end;
  bool is_match;
};

Regex compile(const JsonField& where, const std::string& pattern) {
  try {
    return Regex(oniguruma_to_pcre2(pattern));
  } catch (const std::invalid_argument& error) {
    where.fail(error.what());
  }
}

Regex read_pattern(const JsonField& pattern) {
  if (pattern.has("Regex")) return compile(pattern, pattern.at("Regex").text());
  if (pattern.has("String")) return compile(pattern, escape_regex(pattern.at("String").text()));
  pattern.fail("expected a Regex or a String");
}

SplitBehavior read_behavior(const JsonField& field) {
  constexpr std::array<std::pair<const char*, SplitBehavior>, 5> kNames = {
      {{"Removed", SplitBehavior::removed},
       {"Isolated", SplitBehavior::isolated},
       {"MergedWithPrevious", SplitBehavior::merged_with_previous},
       {"MergedWithNext", SplitBehavior::merged_with_next},
       {"Contiguous", SplitBehavior::contiguous}}};
  for (const auto& [name, behavior] : kNames) {
    if (field.text() == name) return behavior;
  }
  field.fail("unknown behaviour: \"", printable(field.text()), '"');
}

/// Calls `sink(begin, end, is_match)` for all matches and gaps, which together cover the text.
template <class Sink>
void walk(const Regex& pattern, std::string_view text, RegexScratch& scratch, const Sink& sink) {
  std::size_t start = 0;
  std::size_t covered = 0;
  bool matched_before = false;
  Match match;
  while (start <= text.size() && pattern.find(text, start, scratch, match)) {
    if (match.begin == match.end && matched_before && match.end == covered) {
      // An empty match right after a match: go on behind the next character.
      start += start < text.size() ? character_at(text, start).length : 1;
      continue;
    }
    if (covered != match.begin) sink(covered, match.begin, false);
    sink(match.begin, match.end, true);
    start = covered = match.end;
    matched_before = true;
  }
  if (covered != text.size()) sink(covered, text.size(), false);
}

/// Joins pieces: a match goes to the piece before it unless that was a match, or a run of equals is one piece.
std::vector<Piece> joined(const std::vector<Piece>& pieces, SplitBehavior behavior) {
  std::vector<Piece> out;
  bool match_before = false;
  for (const Piece& piece : pieces) {
    const bool join =
        behavior == SplitBehavior::contiguous ? piece.is_match == match_before : piece.is_match && !match_before;
    if (join && !out.empty()) {
      out.back().end = piece.end;
    } else {
      out.push_back(piece);
    }
    match_before = piece.is_match;
  }
  return out;
}

std::vector<Piece> joined_with_next(const std::vector<Piece>& pieces) {
  std::vector<Piece> out;
  bool match_after = false;
  for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
    if (piece->is_match && !match_after && !out.empty()) {
      out.back().begin = piece->begin;
    } else {
      out.push_back(*piece);
    }
    match_after = piece->is_match;
  }
  return {out.rbegin(), out.rend()};
}

}  // namespace

void split_by_pattern(const SplitStep& step, std::string_view text, RegexScratch& scratch,
                      const PreTokenizer::Sink& sink) {
  const bool removes = step.behavior == SplitBehavior::removed;
  const auto pass = [&](std::size_t begin, std::size_t end, bool is_match) {
    if (begin != end && !(removes && is_match)) sink(text.substr(begin, end - begin));
  };
  if (removes || step.behavior == SplitBehavior::isolated) {
    walk(step.pattern, text, scratch,
         [&](std::size_t begin, std::size_t end, bool is_match) { pass(begin, end, is_match != step.invert); });
    return;
  }
  std::vector<Piece> pieces;
  walk(step.pattern, text, scratch, [&](std::size_t begin, std::size_t end, bool is_match) {
    pieces.push_back({begin, end, is_match != step.invert});
  });
  const bool with_next = step.behavior == SplitBehavior::merged_with_next;
  for (const Piece& piece : with_next ? joined_with_next(pieces) : joined(pieces, step.behavior)) {
    pass(piece.begin, piece.end, piece.is_match);
  }
}

PreTokenizer PreTokenizer::parse(const JsonField& section) {
  PreTokenizer result;
  result.add(section);
  if (!result.complete_) {
    section.fail("only byte-level tokenizers are supported: the last pre-tokenizer must be ByteLevel");
  }
  return result;
}

void PreTokenizer::add(const JsonField& section) {
  const std::string& type = section.at("type").text();
  if (complete_) section.fail("nothing may follow ByteLevel: found ", printable(type));
  if (steps_.size() >= kMaxSteps) section.fail("too many pre-tokenizers: limit ", kMaxSteps);
  if (type == "Sequence") {
    for (const JsonField& item : section.at("pretokenizers").items()) add(item);
  } else if (type == "Split") {
    add_split(section);
  } else if (type == "Digits") {
    const bool individual = section.boolean_or("individual_digits", false);
    steps_.push_back({compile(section, R"(\p{N})"), individual ? SplitBehavior::isolated : SplitBehavior::contiguous});
  } else if (type == "ByteLevel") {
    add_byte_level(section);
  } else {
    section.fail("pre-tokenizer not supported: ", printable(type), " (supported: ByteLevel, Split, Digits, Sequence)");
  }
}

void PreTokenizer::add_split(const JsonField& section) {
  steps_.push_back({read_pattern(section.at("pattern")), read_behavior(section.at("behavior")),
                    section.boolean_or("invert", false)});
}

void PreTokenizer::add_byte_level(const JsonField& section) {
  const bool add_space = section.boolean_or("add_prefix_space", true);
  complete_ = true;
  if (!section.boolean_or("use_regex", true)) {
    last_adds_space_ = add_space;
    return;
  }
  steps_.push_back({compile(section, kByteLevelPattern), SplitBehavior::isolated, false, add_space});
}

void PreTokenizer::split(std::string_view text, RegexScratch& scratch, const Sink& sink) const {
  if (!text.empty()) run(0, text, scratch, sink);
}

void PreTokenizer::run(std::size_t index, std::string_view text, RegexScratch& scratch, const Sink& sink) const {
  const bool is_end = index == steps_.size();
  const bool wants_space = is_end ? last_adds_space_ : steps_[index].add_prefix_space;
  std::string with_space;
  if (wants_space && !text.starts_with(' ')) {
    with_space = concat(' ', text);
    text = with_space;
  }
  if (is_end) return sink(text);
  if (index + 1 == steps_.size() && !last_adds_space_) return split_by_pattern(steps_[index], text, scratch, sink);
  split_by_pattern(steps_[index], text, scratch, [&](std::string_view piece) { run(index + 1, piece, scratch, sink); });
}

}  // namespace titan::data
