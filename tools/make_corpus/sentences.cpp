#include "tools/make_corpus/sentences.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "tools/make_corpus/inflection.hpp"

namespace titan::corpus {

namespace {

constexpr unsigned kRemarkPercent = 12;
constexpr unsigned kTwoClausesPercent = 25;
constexpr unsigned kRichPercent = 18;
constexpr unsigned kRarePercent = 50;
constexpr unsigned kHeadOfRemarks = 3;
constexpr unsigned kHeadOfFrames = 2;
constexpr std::string_view kPlaceNouns = "field port line yard room road town hall house water street village";
constexpr std::string_view kTimeNouns = "day night year week winter month hour season summer morning evening";
constexpr std::string_view kPeople =
    "Tom Ann Ben Ida Max Eva Sam Lena Carl Rosa Otto Clara Hugo Marta Felix Nora Anton Greta";
constexpr std::string_view kPlaces = "Arden Selby Corton Marlin Estering Wendale Oster Tolland Reston Lisle";

// Frames of clauses, most frequent first. T: one of the things that the document is about, Ts several of them; N, A and
// V: a noun, adjective and verb of the subject; Ns: plural; Vi, Vs, Vd, Vg: infinitive, third person, past, participle.
constexpr std::array<std::string_view, 30> kPlainFrames = {{
    "it is in the {T}, as it is at this time of the {time noun}",
    "the {T} is the first of all, and the other is not",
    "it is not in the {T}, and it is not on the list",
    "that is the {T} of {person}, and it is in the {place noun}",
    "all of it is for the {T}, and not for one of us",
    "the {T} is in the same {place noun} as it is at the end of the {time noun}",
    "this is the {T}, and that is the other one",
    "it must be the {T} that is in the {place noun}",
    "the {T} is on the line, and it will be in the {place noun} on time",
    "it is the work of the {T}, and it is as it must be",
    "in the {T} it is the same as it is in the {place noun}",
    "if it is for the {T}, it will be on the list",
    "there is no {T} in it, and there is no other way to get one",
    "the {T} is {A}, and it is not the only one that is",
    "some of it is from the {T}, and most of it is not",
    "as to the {T}, it is at the end of the {place noun}",
    "the {T} can be in one place at a time, and this is not the one",
    "it may be that the {T} is in the {place noun}, and it may be that it is not",
    "{person} is in the {T}, and it is for {person} to get it in order",
    "more of it will be in the {T} at the end of the {time noun}",
    "it is {A} in the {T}, and it is {A} on it",
    "at the {T} it is the same for all of us",
    "we can see that it is the {T}, and that it is {A}",
    "to get to the {T} is not the same as to be in it",
    "with the {T} it is the other way",
    "the {T} is as {A} as it can be, and it must be",
    "the {T} is one of the {number} that are in the {place noun}",
    "it is not set by the {T}, but by the one that is at work in it",
    "that the {T} is {A} is not the end of it",
    "{person} has the {T}, and the other one is for {person}",
}};

constexpr std::array<std::string_view, 70> kRichFrames = {{
    "the {T} is in the {T}, and the {T} is on the {N}",
    "it is the {T} of the {N} that is {A}",
    "the {T} of the {N} is in the same {place noun}",
    "there is a {T} in the {place noun}, and it is {A}",
    "{person} is at the {place noun} with the {T}",
    "the first of the {Ts} is in the {N}, and the other is not",
    "it is not the {T} but the {N} that is {A}",
    "{person} can see the {T} from the {place noun}",
    "the {T} must be {A} before it is in the {N}",
    "if the {T} is {A}, it is not in the {place noun}",
    "all of the {Ts} are in the {N}, and most of these are {A}",
    "this is the {T} that {person} {Vd} for the first time",
    "when the {T} is {A}, it is time for the {N}",
    "the {T} is for the {N}, and the {N} is for all of us",
    "{person} will {Vi} the {T} in the {place noun}",
    "it is the work of {person} to {Vi} the {T} on time",
    "the name of the {T} is not on the list, but it is in the {N}",
    "for most of the year the {T} is in the {N} of the {place noun}",
    "some of the {Ts} are {A}, and some are not",
    "as it is with the {T}, so it is with the {N}",
    "the {T} will not {Vi} if the {N} is on it",
    "one of the {Ts} is {A}, and that is the end of it",
    "the {T} and the {N} are on the same line",
    "by the end of the {time noun} the {T} is in the {place noun}",
    "you can {Vi} it with the {T} if the {N} is {A}",
    "there are {number} {Ns} in the {T}, and all are {A}",
    "it is said that the {T} of {place} is the {A} one",
    "the {T} that is in the {place noun} is the one for {person}",
    "more of the {Ns} are at the {T} in the {time noun}",
    "at that time {person} {Vd} the {T}, and it is still {A}",
    "the {T} is to the {N} as the {N} is to the {N}",
    "no {T} is without a {N}",
    "in the {time noun} it is {person} who can {Vi} the {T}",
    "what is in the {T} is not in the {N}",
    "the {N} is in order, and the {T} is in the {place noun}",
    "it may be {A}, but it is the {T} that we need",
    "{person} and {person} {Vi} the {T} at the same time",
    "that is the way to {Vi} a {T}",
    "the {A} {T} {Vs} the {N} in the {place noun}",
    "the {T} is set on the {N}, and {person} can get to it",
    "it is in the {T} that the {N} {Vs}",
    "from the {T} to the {N} it is {number} steps",
    "the other {Ns} {Vi} when the {T} is {A}",
    "{person} {Vs} the {T}, as it must be, on the {time noun}",
    "the use of the {T} is to {Vi} the {N}",
    "for {person} it is a {A} {time noun}, and for the {T} it is the last one",
    "{number} of the {Ns} are in the {T}, and {number} are not",
    "in {place} it is the {N} that {Vs} first",
    "the {N} that {person} {Vd} is part of the {T}",
    "{Vg} the {N} is the work of the {time noun}",
    "where the {T} is, there the {N} {Vs}",
    "the {A} {N} and the {A} {T} are in the {place noun}",
    "it is {A} to {Vi} the {N} in the {T}",
    "with the {T} in the {place noun}, all the {Ns} {Vi}",
    "each of the {Ns} is on a {N} of its own",
    "the {N} is as {A} as the {T} is {A}",
    "{person} has no {N}, but there is one in the {T}",
    "the {T}, the {N} and the {N} are for the {A} {time noun}",
    "the {N} which {person} {Vd} in {place} is at the {place noun}",
    "after the {N} it is time to {Vi} the {T}",
    "most of the {Ns} of {place} {Vi} in the {time noun}",
    "the {T} is the name for a {N} that {Vs}",
    "before the {time noun} the {N} is {A}, and then it is not",
    "{person} may {Vi} the {N}, but not the {T}",
    "without the {T} no one can {Vi} the {N}",
    "the {N} of {person} is in line with the {T}",
    "of all the {Ns} in the {place noun} this is the {A} one",
    "there it is, the {A} {N} of the {T}",
    "it is {Vg}, and the {Ns} are {A}",
    "a {T} is not a {N}, and a {N} is not a {N}",
}};

// What can be said about anything.
constexpr std::array<std::string_view, 24> kRemarks = {{
    "it is the same for all of us",
    "that is the way it is in the {place noun}",
    "it is not the first time, and it will not be the last",
    "this is not the end of it, as we will see",
    "there is no other way to do it",
    "it is as it must be at that time of the {time noun}",
    "that is all there is to it",
    "if it is so for one of us, then it is so for all",
    "it can be done in more than one way",
    "it may be so, but it is not in the list",
    "not all that is in it can be seen from the {place noun}",
    "for most of us it is the end of the {time noun}",
    "it is for all of us to see, and not for one",
    "that is not to say that it is all in order",
    "what is in it is for {person} to say",
    "it must be so, or it will not work",
    "and that is what it is for",
    "from that time on it is not the same",
    "in the end it is the work that must be done",
    "some say that it is, and some say that it is not",
    "it is not in the name, it is in the use of it",
    "with that it is in order for the {time noun}",
    "as of this {time noun} it is not so",
    "the more of it there is, the more of it we need",
}};

}  // namespace

Writer::Writer(Random& random, const Topic& topic)
    : random_(random),
      nouns_(words_of(topic.nouns)),
      verbs_(words_of(topic.verbs)),
      adjectives_(words_of(topic.adjectives)) {
  const std::vector<std::string_view> names = words_of(kPeople);
  people_.emplace_back(names[random_.rank(names.size())]);
  do {
    people_.resize(1);
    people_.emplace_back(names[random_.rank(names.size())]);
  } while (people_[1] == people_[0]);
  for (int i = 0; i < 4; ++i) themes_.push_back(nouns_[random_.rank(nouns_.size())]);
}

std::string Writer::theme() { return unused(themes_); }

std::string Writer::noun() { return random_.chance(kRarePercent) ? any_of(nouns_) : unused(nouns_); }

std::string Writer::adjective() { return random_.chance(kRarePercent) ? any_of(adjectives_) : common_of(adjectives_); }

std::string Writer::verb() { return random_.chance(kRarePercent) ? any_of(verbs_) : common_of(verbs_); }

/// Any of the words, the rare ones as often as the others.
std::string Writer::any_of(const std::vector<std::string_view>& words) {
  return std::string(words[random_.below(words.size())]);
}

std::string Writer::common_of(const std::vector<std::string_view>& words) {
  return std::string(words[random_.rank(words.size())]);
}

/// A word that this clause does not have yet.
std::string Writer::unused(const std::vector<std::string_view>& words) {
  std::string_view word;
  for (int attempt = 0; attempt < 20; ++attempt) {
    word = words[random_.rank(words.size())];
    if (std::find(used_.begin(), used_.end(), word) == used_.end()) break;
  }
  used_.push_back(word);
  return std::string(word);
}

std::string Writer::fill(std::string_view slot) {
  if (slot == "place noun") return common_of(words_of(kPlaceNouns));
  if (slot == "time noun") return common_of(words_of(kTimeNouns));
  if (slot == "T") return theme();
  if (slot == "Ts") return plural(theme());
  if (slot == "N") return noun();
  if (slot == "any") return random_.chance(50) ? plural(any_of(nouns_)) : any_of(nouns_);
  if (slot == "Ns") return plural(noun());
  if (slot == "A") return adjective();
  if (slot == "Vi") return verb();
  if (slot == "Vs") return third_person(verb());
  if (slot == "Vd") return past(verb());
  if (slot == "Vg") return participle(verb());
  if (slot == "person") return people_[random_.rank(2, 3)];
  if (slot == "place") return common_of(words_of(kPlaces));
  if (slot == "number") return std::to_string(2 + random_.rank(40, 3));
  return std::string(slot);
}

std::string Writer::expand(std::string_view frame) {
  std::string out;
  used_.clear();
  for (std::size_t at = 0; at < frame.size();) {
    if (frame[at] != '{') {
      out += frame[at++];
      continue;
    }
    const std::size_t end = frame.find('}', at);
    std::string word = fill(frame.substr(at + 1, end - at - 1));
    if (out.ends_with(" a ")) out.replace(out.size() - 2, 1, article(word));
    out += word;
    at = end + 1;
  }
  return out;
}

/// One of the frames, but not the one that the clause before had.
template <std::size_t count>
std::string_view Writer::draw(const std::array<std::string_view, count>& frames, unsigned head) {
  std::string_view frame = frames[random_.rank(count, head)];
  while (frame == last_frame_) frame = frames[random_.rank(count, head)];
  last_frame_ = frame;
  return frame;
}

std::string Writer::clause() {
  if (random_.chance(kRemarkPercent)) return expand(draw(kRemarks, kHeadOfRemarks));
  if (random_.chance(kRichPercent)) return expand(draw(kRichFrames, kHeadOfFrames));
  return expand(draw(kPlainFrames, kHeadOfFrames));
}

std::string Writer::sentence() {
  const std::string first = clause();
  if (!random_.chance(kTwoClausesPercent)) return capitalized(first) + ".";
  return capitalized(first) + ", and " + clause() + ".";
}

std::string Writer::paragraph(std::size_t sentences) {
  std::string text = sentence();
  for (std::size_t i = 1; i < sentences; ++i) text.append(" ").append(sentence());
  return text;
}

std::string Writer::phrase() { return expand("the {any} of the {T}"); }

std::string Writer::word() {
  const std::size_t kind = random_.below(8);
  if (kind < 3) return any_of(nouns_);
  if (kind < 5) return plural(any_of(nouns_));
  if (kind < 6) return any_of(adjectives_);
  return kind < 7 ? past(any_of(verbs_)) : participle(any_of(verbs_));
}

std::string Writer::question() { return capitalized(expand("is the {T} in the {N}?")); }

}  // namespace titan::corpus
