#include "core/checkpoint/dcp/item_bytes.hpp"

#include <algorithm>

#include "core/base/error.hpp"

namespace titan::checkpoint {
namespace {

// What lies before and behind the tensor in an archive of torch.save has some 700 bytes each.
constexpr std::uint64_t kKept = 2048;

}  // namespace

ItemBytes::ItemBytes(const InputFile& file, std::uint64_t offset, std::uint64_t length)
    : file_(file), offset_(offset), length_(length) {
  if (offset > file.size() || length > file.size() - offset) {
    throw DataError("[checkpoint] file is shorter than its items: ", printable(file.path().native()), ": ", file.size(),
                    " bytes, item at ", offset, " of ", length);
  }
  head_.resize(static_cast<std::size_t>(std::min(length, kKept)));
  file_.read_at(offset_, head_);
  tail_.resize(static_cast<std::size_t>(std::min(length - head_.size(), kKept)));
  file_.read_at(offset_ + length_ - tail_.size(), tail_);
}

RangeOfBytes ItemBytes::range() const {
  return {length_, [this](std::uint64_t at, std::span<char> bytes) { read(at, bytes); }};
}

void ItemBytes::read(std::uint64_t at, std::span<char> bytes) const {
  const std::uint64_t tail_at = length_ - tail_.size();
  if (at + bytes.size() <= head_.size()) {
    std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(at), bytes.size(), bytes.begin());
  } else if (at >= tail_at) {
    std::copy_n(tail_.begin() + static_cast<std::ptrdiff_t>(at - tail_at), bytes.size(), bytes.begin());
  } else {
    file_.read_at(offset_ + at, bytes);
  }
}

}  // namespace titan::checkpoint
