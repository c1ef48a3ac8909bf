#include "core/pickle/texts.hpp"

#include <functional>

namespace titan::pickle {

std::string_view Texts::operator[](std::uint32_t number) const {
  const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
  return std::string_view(bytes_).substr(begin, ends_[number] - begin);
}

std::size_t Texts::slot_of(std::string_view text) const {
  std::size_t slot = std::hash<std::string_view>{}(text) & (slots_.size() - 1);
  while (slots_[slot] != kNone && (*this)[slots_[slot]] != text) slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

void Texts::grow() {
  slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), kNone);
  for (std::uint32_t i = 0; i < ends_.size(); ++i) slots_[slot_of((*this)[i])] = i;
}

std::uint32_t Texts::number(std::string_view text) {
  if (2 * ends_.size() >= slots_.size()) grow();
  const std::size_t slot = slot_of(text);
  if (slots_[slot] != kNone) return slots_[slot];
  const auto number = static_cast<std::uint32_t>(ends_.size());
  bytes_.append(text);
  ends_.push_back(bytes_.size());
  slots_[slot] = number;
  return number;
}

}  // namespace titan::pickle
