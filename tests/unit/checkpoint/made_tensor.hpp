#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/checkpoint/parts.hpp"

namespace titan::checkpoint::testing {

/// A tensor, or a box of one, with memory of its own.
struct MadeTensor {
  TensorInfo info;
  Box box;
  std::vector<std::byte> bytes;

  HeldPart held() const { return {info, box, bytes.data()}; }
  WantedPart wanted() { return {info, box, bytes.data()}; }
};

inline Box whole(const std::vector<std::int64_t>& shape) { return {std::vector<std::int64_t>(shape.size(), 0), shape}; }

/// A box of a tensor whose bytes are all 0xAA.
inline MadeTensor blank(const TensorInfo& info, const Box& box) {
  const std::size_t size = static_cast<std::size_t>(num_elements(box.size)) * element_size(info.dtype);
  return {info, box, std::vector<std::byte>(size, std::byte{0xAA})};
}

/// A whole tensor of random bytes; booleans are 0 or 1.
inline MadeTensor random_tensor(const std::string& name, DType dtype, const std::vector<std::int64_t>& shape,
                                std::mt19937_64& random) {
  MadeTensor made = blank({name, dtype, shape}, whole(shape));
  for (std::size_t at = 0; at < made.bytes.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t bits = random() & (dtype == DType::boolean ? 0x0101010101010101U : ~std::uint64_t{0});
    std::memcpy(made.bytes.data() + at, &bits, std::min(sizeof bits, made.bytes.size() - at));
  }
  return made;
}

inline bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

/// Cuts a box out of a whole tensor, element by element.
inline MadeTensor cut(const MadeTensor& tensor, const Box& box) {
  MadeTensor out = blank(tensor.info, box);
  const std::size_t size = element_size(tensor.info.dtype);
  const std::size_t dims = box.size.size();
  std::vector<std::int64_t> at(dims, 0);
  for (std::size_t i = 0; i < out.bytes.size() / size; ++i) {
    std::int64_t place = 0;
    for (std::size_t dim = 0; dim < dims; ++dim) place = place * tensor.info.shape[dim] + box.offset[dim] + at[dim];
    std::memcpy(out.bytes.data() + i * size, tensor.bytes.data() + static_cast<std::size_t>(place) * size, size);
    for (std::size_t dim = dims; dim-- > 0 && ++at[dim] == box.size[dim];) at[dim] = 0;
  }
  return out;
}

inline std::vector<HeldPart> held(const std::vector<MadeTensor>& tensors) {
  std::vector<HeldPart> parts;
  for (const MadeTensor& tensor : tensors) parts.push_back(tensor.held());
  return parts;
}

inline std::vector<WantedPart> wanted(std::vector<MadeTensor>& tensors) {
  std::vector<WantedPart> parts;
  for (MadeTensor& tensor : tensors) parts.push_back(tensor.wanted());
  return parts;
}

}  // namespace titan::checkpoint::testing
