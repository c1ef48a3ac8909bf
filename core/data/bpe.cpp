#include "core/data/bpe.hpp"

#include <algorithm>
#include <cstring>

#include "core/base/hashing.hpp"

namespace titan::data {

namespace {

constexpr std::size_t kCacheSlots = std::size_t{1} << 14U;
// Up to here, looking at all pairs again is faster than keeping a queue.
constexpr std::size_t kLongestScannedWord = 40;
constexpr std::uint32_t kNowhere = 0xFFFFFFFF;

}  // namespace

WordCache::WordCache() : slots_(kCacheSlots) {}

bool WordCache::append(std::string_view word, std::uint64_t hash, std::vector<std::int64_t>& out) const {
  const Slot& slot = slots_[hash & (kCacheSlots - 1)];
  if (slot.length != word.size() || word.empty()) return false;
  if (std::memcmp(slot.word.data(), word.data(), word.size()) != 0) return false;
  out.insert(out.end(), slot.tokens.begin(), slot.tokens.begin() + slot.count);
  return true;
}

void WordCache::remember(std::string_view word, std::uint64_t hash, const std::uint32_t* tokens, std::size_t count) {
  if (word.size() > kMaxBytes || count > kMaxTokens) return;
  Slot& slot = slots_[hash & (kCacheSlots - 1)];
  slot.length = static_cast<std::uint8_t>(word.size());
  slot.count = static_cast<std::uint8_t>(count);
  std::copy(word.begin(), word.end(), slot.word.begin());
  std::copy(tokens, tokens + count, slot.tokens.begin());
}

void BpeEncoder::encode(std::string_view word, std::vector<std::int64_t>& out) {
  const std::uint64_t hash = hash64(word);
  if (cache_.append(word, hash, out)) return;
  symbols_.clear();
  if (tables_.whole_words_first) {
    if (const std::uint32_t id = tables_.words.find(word); id != kNoToken) symbols_.push_back(id);
  }
  if (symbols_.empty()) {
    fill_symbols(word);
    if (symbols_.size() <= kLongestScannedWord) {
      merge_by_scan();
    } else {
      merge_by_queue();
    }
  }
  cache_.remember(word, hash, symbols_.data(), symbols_.size());
  out.insert(out.end(), symbols_.begin(), symbols_.end());
}

void BpeEncoder::fill_symbols(std::string_view word) {
  bool after_unknown = false;
  for (const char byte : word) {
    std::uint32_t id = tables_.byte_tokens[static_cast<unsigned char>(byte)];
    const bool unknown = id == kNoToken;
    if (unknown) id = after_unknown && tables_.fuse_unknown ? kNoToken : tables_.unknown_token;
    if (id != kNoToken) symbols_.push_back(id);
    after_unknown = unknown;
  }
}

void BpeEncoder::merge_by_scan() {
  if (symbols_.size() < 2) return;
  pairs_.clear();
  for (std::size_t i = 0; i + 1 < symbols_.size(); ++i) {
    pairs_.push_back(tables_.merges.find(symbols_[i], symbols_[i + 1]));
  }
  while (!pairs_.empty()) {
    const auto best =
        std::min_element(pairs_.begin(), pairs_.end(), [](const Merge& a, const Merge& b) { return a.rank < b.rank; });
    if (best->rank == kNoToken) return;
    const auto at = static_cast<std::size_t>(best - pairs_.begin());
    symbols_[at] = best->id;
    symbols_.erase(symbols_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    pairs_.erase(best);
    if (at < pairs_.size()) pairs_[at] = tables_.merges.find(symbols_[at], symbols_[at + 1]);
    if (at > 0) pairs_[at - 1] = tables_.merges.find(symbols_[at - 1], symbols_[at]);
  }
}

bool BpeEncoder::comes_later(const Candidate& a, const Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
}

void BpeEncoder::merge_by_queue() {
  link_symbols();
  queue_.clear();
  for (std::uint32_t i = 0; i + 1 < symbols_.size(); ++i) consider(i);
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end(), comes_later);
    const Candidate candidate = queue_.back();
    queue_.pop_back();
    apply(candidate);
  }
  symbols_.erase(std::remove(symbols_.begin(), symbols_.end(), kNoToken), symbols_.end());
}

void BpeEncoder::link_symbols() {
  const auto count = static_cast<std::uint32_t>(symbols_.size());
  previous_.resize(count);
  next_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    previous_[i] = i == 0 ? kNowhere : i - 1;
    next_[i] = i + 1 == count ? kNowhere : i + 1;
  }
}

/// Queues the merge of the symbol at `left` with the one after it, if there is such a merge.
void BpeEncoder::consider(std::uint32_t left) {
  const std::uint32_t right = next_[left];
  if (right == kNowhere) return;
  const Merge merge = tables_.merges.find(symbols_[left], symbols_[right]);
  if (merge.rank == kNoToken) return;
  queue_.push_back({merge.rank, left, merge.id});
  std::push_heap(queue_.begin(), queue_.end(), comes_later);
}

void BpeEncoder::apply(const Candidate& candidate) {
  const std::uint32_t left = candidate.position;
  const std::uint32_t right = symbols_[left] == kNoToken ? kNowhere : next_[left];
  // One of the two was merged with another neighbour in the meantime.
  if (right == kNowhere || tables_.merges.find(symbols_[left], symbols_[right]).id != candidate.id) return;
  symbols_[left] = candidate.id;
  symbols_[right] = kNoToken;
  next_[left] = next_[right];
  if (next_[left] != kNowhere) previous_[next_[left]] = left;
  if (previous_[left] != kNowhere) consider(previous_[left]);
  consider(left);
}

}  // namespace titan::data
