#include "tools/make_corpus/inflection.hpp"

#include <array>
#include <utility>

namespace titan::corpus {

namespace {

using Exception = std::pair<std::string_view, std::string_view>;

constexpr std::array<Exception, 30> kPlurals = {
    {{"leaf", "leaves"},     {"shelf", "shelves"},     {"wolf", "wolves"},     {"half", "halves"},
     {"knife", "knives"},    {"thief", "thieves"},     {"loaf", "loaves"},     {"calf", "calves"},
     {"foot", "feet"},       {"tooth", "teeth"},       {"goose", "geese"},     {"mouse", "mice"},
     {"child", "children"},  {"sheep", "sheep"},       {"fish", "fish"},       {"deer", "deer"},
     {"trout", "trout"},     {"salmon", "salmon"},     {"potato", "potatoes"}, {"tomato", "tomatoes"},
     {"cargo", "cargoes"},   {"echo", "echoes"},       {"goods", "goods"},     {"axis", "axes"},
     {"people", "people"},   {"mackerel", "mackerel"}, {"tongs", "tongs"},     {"bellows", "bellows"},
     {"customs", "customs"}, {"scarf", "scarves"}}};

constexpr std::array<Exception, 36> kPasts = {
    {{"feed", "fed"},     {"breed", "bred"},  {"teach", "taught"}, {"write", "wrote"},
     {"read", "read"},    {"bind", "bound"},  {"sing", "sang"},    {"swim", "swam"},
     {"freeze", "froze"}, {"bend", "bent"},   {"build", "built"},  {"cut", "cut"},
     {"fall", "fell"},    {"rise", "rose"},   {"sleep", "slept"},  {"wake", "woke"},
     {"sweep", "swept"},  {"sell", "sold"},   {"buy", "bought"},   {"pay", "paid"},
     {"lend", "lent"},    {"spend", "spent"}, {"hide", "hid"},     {"dig", "dug"},
     {"shine", "shone"},  {"grow", "grew"},   {"choose", "chose"}, {"spread", "spread"},
     {"blow", "blew"},    {"bleed", "bled"},  {"lead", "led"},     {"beat", "beat"},
     {"steal", "stole"},  {"keep", "kept"},   {"dive", "dived"},   {"understand", "understood"}}};

template <std::size_t count>
std::string_view exception(const std::array<Exception, count>& list, std::string_view word) {
  for (const auto& [from, to] : list) {
    if (from == word) return to;
  }
  return {};
}

bool is_vowel(char c) { return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u'; }

bool hisses(std::string_view word) {
  for (const std::string_view end : {"s", "x", "z", "ch", "sh"}) {
    if (word.ends_with(end)) return true;
  }
  return false;
}

bool ends_in_consonant_y(std::string_view word) {
  return word.size() > 2 && word.ends_with('y') && !is_vowel(word[word.size() - 2]);
}

std::string with_s(std::string_view word) {
  if (ends_in_consonant_y(word)) return std::string(word.substr(0, word.size() - 1)) + "ies";
  return std::string(word) + (hisses(word) ? "es" : "s");
}

/// Says whether the last consonant is doubled before -ed and -ing: one syllable that ends in vowel and consonant.
bool doubles(std::string_view verb) {
  if (verb.size() < 3) return false;
  const char last = verb.back();
  if (is_vowel(last) || last == 'w' || last == 'x' || last == 'y') return false;
  if (!is_vowel(verb[verb.size() - 2]) || is_vowel(verb[verb.size() - 3])) return false;
  for (std::size_t i = 0; i + 3 < verb.size(); ++i) {
    if (is_vowel(verb[i])) return false;
  }
  return true;
}

}  // namespace

std::string plural(std::string_view noun) {
  if (const std::string_view known = exception(kPlurals, noun); !known.empty()) return std::string(known);
  if (noun.ends_with("man")) return std::string(noun.substr(0, noun.size() - 2)) + "en";
  return with_s(noun);
}

std::string third_person(std::string_view verb) { return verb == "echo" ? "echoes" : with_s(verb); }

std::string past(std::string_view verb) {
  if (const std::string_view known = exception(kPasts, verb); !known.empty()) return std::string(known);
  if (verb.ends_with('e')) return std::string(verb) + "d";
  if (ends_in_consonant_y(verb)) return std::string(verb.substr(0, verb.size() - 1)) + "ied";
  return std::string(verb) + (doubles(verb) ? std::string(1, verb.back()) : std::string()) + "ed";
}

std::string participle(std::string_view verb) {
  if (verb.ends_with('e') && !verb.ends_with("ee") && verb != "dye") {
    return std::string(verb.substr(0, verb.size() - 1)) + "ing";
  }
  return std::string(verb) + (doubles(verb) ? std::string(1, verb.back()) : std::string()) + "ing";
}

std::string_view article(std::string_view next_word) {
  for (const std::string_view sounds : {"hour", "honest"}) {
    if (next_word.starts_with(sounds)) return "an";
  }
  for (const std::string_view sounds : {"uni", "use", "usu", "eu", "one"}) {
    if (next_word.starts_with(sounds)) return "a";
  }
  return !next_word.empty() && is_vowel(next_word.front()) ? "an" : "a";
}

std::string capitalized(std::string_view text) {
  std::string result(text);
  if (!result.empty() && result[0] >= 'a' && result[0] <= 'z') result[0] = static_cast<char>(result[0] - 'a' + 'A');
  return result;
}

}  // namespace titan::corpus
