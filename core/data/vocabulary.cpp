#include "core/data/vocabulary.hpp"

#include <algorithm>
#include <utility>

namespace titan::data {

namespace {

constexpr std::size_t kMaxAddedBytes = 1024;

/// Refuses ids that would make tables by id much larger than the vocabulary.
void check_density(const TokenTable& entries, const JsonField& where) {
  constexpr std::size_t kAlwaysAllowed = 1024;
  std::uint32_t largest = 0;
  for (std::size_t entry = 0; entry < entries.size(); ++entry) largest = std::max(largest, entries.id(entry));
  if (largest > 2 * entries.size() + kAlwaysAllowed) {
    where.fail("ids are too sparse: ", entries.size(), " tokens, largest id ", largest);
  }
}

}  // namespace

Vocabulary::Vocabulary(const TokenTable& entries, const JsonField& where) : entries_(entries) {
  check_density(entries, where);
  for (std::size_t entry = 0; entry < entries.size(); ++entry) {
    const std::uint32_t id = entries.id(entry);
    if (has(id)) {
      where.fail("one id for two tokens: ", id, ", \"", printable(content(id)), "\" and \"",
                 printable(entries.text(entry)), '"');
    }
    take(id, entries.text(entry));
  }
}

void Vocabulary::take(std::uint32_t id, std::string_view content) {
  if (id >= tokens_.size()) tokens_.resize(std::size_t{id} + 1);
  tokens_[id] = {std::string(content), true, false};
}

bool Vocabulary::has(std::int64_t id) const {
  return id >= 0 && id < std::int64_t{size()} && tokens_[static_cast<std::size_t>(id)].used;
}

std::uint32_t Vocabulary::find(std::string_view content) const {
  const auto added = added_by_content_.find(std::string(content));
  return added != added_by_content_.end() ? added_[added->second].id : entries_.find(content);
}

void Vocabulary::add(AddedToken token, const JsonField& where) {
  if (token.content.empty()) return;
  if (token.content.size() > kMaxAddedBytes) where.fail("token too long: limit ", kMaxAddedBytes, " bytes");
  const std::uint32_t stated = token.id;
  const std::uint32_t known = find(token.content);
  token.id = known != kNoToken ? known : size();
  if (token.id > kMaxTokenId) where.fail("too many tokens: limit ", kMaxTokenId);
  if (stated != kNoToken && stated != token.id) {
    where.fail("states another id than the token gets: \"", printable(token.content), "\", stated ", stated, ", gets ",
               token.id);
  }
  if (known == kNoToken) take(token.id, token.content);
  tokens_[token.id].special = tokens_[token.id].special || token.special;
  const auto [place, is_new] = added_by_content_.try_emplace(token.content, added_.size());
  if (is_new) {
    added_.push_back(std::move(token));
  } else {
    added_[place->second] = std::move(token);
  }
}

AddedTokenFinder Vocabulary::finder(bool normalized, const TextNormalizer& normalizer) const {
  AddedTokenFinder result;
  for (const AddedToken& token : added_) {
    if (token.normalized != normalized) continue;
    const std::string pattern = normalized ? normalizer.apply(token.content) : token.content;
    if (!pattern.empty()) result.add(token, pattern);
  }
  return result;
}

}  // namespace titan::data
