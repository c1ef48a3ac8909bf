#include "core/data/token_table.hpp"

#include <utility>

#include "core/base/hashing.hpp"

namespace titan::data {

namespace {

constexpr std::size_t kFirstSlots = 1024;

}  // namespace

TokenTable::TokenTable() : slots_(kFirstSlots) {}

std::string_view TokenTable::text(std::size_t entry) const {
  return std::string_view(texts_).substr(entries_[entry].offset, entries_[entry].length);
}

std::size_t TokenTable::slot_of(std::string_view text_to_find) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash64(text_to_find) & mask;
  while (slots_[slot] != 0 && text(slots_[slot] - 1) != text_to_find) slot = (slot + 1) & mask;
  return slot;
}

std::uint32_t TokenTable::find(std::string_view text_to_find) const {
  const std::uint32_t found = slots_[slot_of(text_to_find)];
  return found == 0 ? kNoToken : entries_[found - 1].id;
}

bool TokenTable::insert(std::string_view new_text, std::uint32_t id) {
  const std::size_t slot = slot_of(new_text);
  if (slots_[slot] != 0) return false;
  entries_.push_back({texts_.size(), static_cast<std::uint32_t>(new_text.size()), id});
  texts_ += new_text;
  slots_[slot] = static_cast<std::uint32_t>(entries_.size());
  if (entries_.size() * 2 > slots_.size()) grow();
  return true;
}

void TokenTable::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (std::size_t entry = 0; entry < entries_.size(); ++entry) {
    slots_[slot_of(text(entry))] = static_cast<std::uint32_t>(entry + 1);
  }
}

PairTable::PairTable() : slots_(kFirstSlots), mask_(kFirstSlots - 1) {}

void PairTable::set(std::uint32_t left, std::uint32_t right, Merge merge) {
  const std::uint64_t key = key_of(left, right);
  std::size_t slot = hash(key) & mask_;
  while (slots_[slot].key != key && slots_[slot].key != kEmpty) slot = (slot + 1) & mask_;
  const bool is_new = slots_[slot].key == kEmpty;
  slots_[slot] = {key, merge};
  if (is_new && ++size_ * 2 > slots_.size()) grow();
}

void PairTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  std::swap(old, slots_);
  mask_ = slots_.size() - 1;
  size_ = 0;
  for (const Slot& slot : old) {
    if (slot.key != kEmpty) {
      set(static_cast<std::uint32_t>(slot.key >> 32U), static_cast<std::uint32_t>(slot.key), slot.merge);
    }
  }
}

}  // namespace titan::data
