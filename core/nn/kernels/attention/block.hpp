#pragma once

// What forward and backward share: the sizes of blocks, where one begins, and who sees whom.
#include "core/nn/kernels/attention/attention_kernel.hpp"
#include "core/nn/kernels/attention/tile.hpp"

namespace titan::nn::kernels {
namespace {

/// Sizes of a task; kDim 0: the head dim is not known to the compiler.
template <class Operands, std::int64_t kDim>
struct Sizes {
  static constexpr std::int64_t kPerWord = Operands::kPerWord;
  static constexpr bool kHasPairs = kPerWord == 2;
  // Two tiles of queries share the keys that a core has just read, where a head is wide.
  static constexpr std::int64_t kQueries = kDim > 0 && kDim <= 32 ? kTileLanes : 2 * kTileLanes;
  static constexpr std::int64_t kVecs = kQueries / kWidth;

  explicit Sizes(const Attention& attention) : runtime_dim(attention.head_dim) {}
  std::int64_t dim() const { return kDim > 0 ? kDim : runtime_dim; }
  /// With its padding.
  std::int64_t width() const { return round_up(dim(), kPadding); }
  std::int64_t words() const { return width() / kPerWord; }
  std::int64_t runtime_dim;
};

/// Hands out a task's memory; without any it only counts.
class Space {
 public:
  explicit Space(std::byte* begin) : begin_(reinterpret_cast<float*>(begin)) {}
  float* take(std::int64_t num_floats) {
    float* taken = begin_ == nullptr ? nullptr : begin_ + size_;
    size_ += round_up(num_floats, 16);
    return taken;
  }
  /// Floats taken so far.
  std::int64_t size() const { return size_; }

 private:
  float* begin_;
  std::int64_t size_ = 0;
};

/// Floats that a Memory takes.
template <class Memory, class Sizes>
std::int64_t space_of(const Sizes& sizes, std::int64_t num_keys) {
  Space space(nullptr);
  Memory(space, sizes, num_keys);
  return space.size();
}

/// Whom the queries of a block see.
struct Sight {
  std::int64_t all;   // keys that every query of the block sees
  std::int64_t some;  // keys that any of them sees
};

TITAN_SIMD Sight sight_of(const Attention& attention, const AttentionTask& task, std::int64_t first,
                          std::int64_t count) {
  if (!attention.is_causal) return {task.num_keys, task.num_keys};
  return {least(task.num_keys, first + 1), least(task.num_keys, first + count)};
}

/// How many keys each query from `first` on sees.
template <int kVecs>
TITAN_SIMD void fill_limits(const Attention& attention, const AttentionTask& task, std::int64_t first,
                            Vec (&limits)[kVecs]) {
  float numbers[kVecs * kWidth];
  for (std::int64_t i = 0; i < kVecs * kWidth; ++i) {
    numbers[i] = static_cast<float>(attention.is_causal ? least(task.num_keys, first + i + 1) : task.num_keys);
  }
  for (int j = 0; j < kVecs; ++j) limits[j] = load(numbers + j * kWidth);
}

/// The element of a token and head.
template <class T>
TITAN_SIMD T* at(const Heads& heads, std::int64_t row, std::int64_t token, std::int64_t head) {
  return static_cast<T*>(heads.data) + row * heads.row + token * heads.token + head * heads.head;
}
TITAN_SIMD float* at(const LogSums& sums, std::int64_t row, std::int64_t token, std::int64_t head) {
  return sums.data + row * sums.row + token * sums.token + head * sums.head;
}

constexpr float kLog2E = 1.44269504F, kLn2 = 0.693147181F;

}  // namespace
}  // namespace titan::nn::kernels
