#include "core/data/added_tokens.hpp"

#include <algorithm>
#include <cstddef>

#include "core/data/unicode.hpp"

namespace titan::data {

namespace {

bool word_ends_at(std::string_view text, std::size_t at) {
  return at > 0 && is_word_character(character_before(text, at).code_point);
}

bool word_begins_at(std::string_view text, std::size_t at) {
  return at < text.size() && is_word_character(character_at(text, at).code_point);
}

std::size_t before_white_space(std::string_view text, std::size_t at) {
  while (at > 0) {
    const Character c = character_before(text, at);
    if (!is_white_space(c.code_point)) break;
    at -= c.length;
  }
  return at;
}

std::size_t behind_white_space(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const Character c = character_at(text, at);
    if (!is_white_space(c.code_point)) break;
    at += c.length;
  }
  return at;
}

}  // namespace

void AddedTokenFinder::add(const AddedToken& token, std::string_view pattern) {
  std::uint32_t node = 0;
  for (const char c : pattern) {
    const std::uint32_t byte = static_cast<unsigned char>(c);
    Merge edge = edges_.find(node, byte);
    if (edge.rank == kNoToken) {
      edge = {0, static_cast<std::uint32_t>(token_of_node_.size())};
      edges_.set(node, byte, edge);
      token_of_node_.push_back(kNoToken);
    }
    node = edge.id;
  }
  first_bytes_[static_cast<unsigned char>(pattern.front())] = true;
  // Of two tokens with one normalised form, the first one added is found.
  if (token_of_node_[node] != kNoToken) return;
  token_of_node_[node] = static_cast<std::uint32_t>(tokens_.size());
  tokens_.push_back({token.id, token.single_word, token.lstrip, token.rstrip});
}

AddedTokenFinder::Found AddedTokenFinder::longest_at(std::string_view text, std::size_t at) const {
  Found found;
  std::uint32_t node = 0;
  while (at < text.size()) {
    const Merge edge = edges_.find(node, static_cast<unsigned char>(text[at]));
    if (edge.rank == kNoToken) break;
    node = edge.id;
    ++at;
    if (token_of_node_[node] != kNoToken) found = {at, token_of_node_[node]};
  }
  return found;
}

void AddedTokenFinder::split(std::string_view text, const Sink& sink) const {
  std::size_t covered = 0;
  for (std::size_t at = 0; !tokens_.empty() && at < text.size();) {
    if (!first_bytes_[static_cast<unsigned char>(text[at])]) {
      ++at;
      continue;
    }
    const Found found = longest_at(text, at);
    if (found.token == kNoToken) {
      ++at;
      continue;
    }
    const Token& token = tokens_[found.token];
    std::size_t begin = at;
    std::size_t end = found.end;
    at = found.end;
    if (token.single_word && (word_ends_at(text, begin) || word_begins_at(text, end))) continue;
    if (token.lstrip) begin = std::max(before_white_space(text, begin), covered);
    if (token.rstrip) end = behind_white_space(text, end);
    if (covered < begin) sink(kNoToken, text.substr(covered, begin - covered));
    sink(token.id, text.substr(begin, end - begin));
    covered = end;
  }
  if (covered < text.size()) sink(kNoToken, text.substr(covered));
}

}  // namespace titan::data
