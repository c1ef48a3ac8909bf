#include "plugins/observability/breakpoint/text_parts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "titan/sdk/text.hpp"

namespace titan::observability {
namespace {

constexpr std::size_t kMostSuggested = 5;
constexpr std::size_t kLongestWord = 1024;
constexpr std::size_t kMostShown = 1000;

/// How many letters have to be inserted, removed or replaced.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string_view> split_parts(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(trimmed(text.substr(begin, end == std::string_view::npos ? end : end - begin)));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string quotable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char letter : text.substr(0, kMostShown)) {
    const auto byte = static_cast<unsigned char>(letter);
    if ((byte >= 0x20 && byte != 0x7f) || letter == '\n' || letter == '\t') {
      out += letter;
    } else {
      out += {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
    }
  }
  if (text.size() > kMostShown) out += sdk::concat("... (", text.size(), " bytes)");
  return out;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& names) {
  struct Candidate {
    std::size_t distance;
    const std::string* name;
  };
  std::vector<Candidate> near;
  if (word.size() > kLongestWord) return {};
  for (const std::string& name : names) {
    const std::size_t far = distance(word, name);
    const bool is_inside = !word.empty() && name.find(word) != std::string::npos;
    if (is_inside || far <= std::max<std::size_t>(1, (word.size() + 1) / 3))
      near.push_back({is_inside ? 0 : far, &name});
  }
  std::ranges::stable_sort(near, {}, &Candidate::distance);
  if (near.size() > kMostSuggested) near.resize(kMostSuggested);
  std::string out;
  for (const Candidate& candidate : near) out += (out.empty() ? "; did you mean " : ", ") + *candidate.name;
  return out.empty() ? out : out + '?';
}

}  // namespace titan::observability
