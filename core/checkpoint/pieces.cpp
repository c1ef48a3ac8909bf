#include "core/checkpoint/pieces.hpp"

#include <algorithm>
#include <utility>

#include "core/checkpoint/parts.hpp"

namespace titan::checkpoint {

std::vector<Box> pieces_of(const Box& box, std::uint64_t most) {
  std::vector<Box> pieces;
  const auto elements = static_cast<std::uint64_t>(num_elements(box.size));
  if (elements == 0) return pieces;
  const auto wide = std::find_if(box.size.begin(), box.size.end(), [](std::int64_t size) { return size > 1; });
  if (elements <= most || wide == box.size.end()) return {box};
  const auto dim = static_cast<std::size_t>(wide - box.size.begin());
  const std::uint64_t row = elements / static_cast<std::uint64_t>(box.size[dim]);
  const auto rows = static_cast<std::int64_t>(std::max<std::uint64_t>(1, most / row));
  for (std::int64_t begin = 0; begin < box.size[dim]; begin += rows) {
    Box cut = box;
    cut.offset[dim] += begin;
    cut.size[dim] = std::min(rows, box.size[dim] - begin);
    for (Box& piece : pieces_of(cut, most)) pieces.push_back(std::move(piece));
  }
  return pieces;
}

}  // namespace titan::checkpoint
