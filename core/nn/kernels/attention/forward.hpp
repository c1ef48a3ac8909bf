#pragma once

// Flash attention (Dao et al. 2022, 2023), forward: for each block of queries the blocks of keys they see go by, and
// the softmax is corrected whenever a larger score turns up.
//
//              keys ->                 q^T [dim][queries]       scores^T = k q^T     kKeys x kQueries, in cache
//    queries   [ 1 ][ 2 ][ 3 ]         k   [keys][dim]          p^T = 2^(c * scores^T - max)
//       |      [ 4 ][ 5 ][ 6 ]\        v   [keys][dim]          out^T += v^T p^T     dim x kQueries, in cache
//       v      [ 7 ][ 8 ][ 9 ] \  masked blocks are left out, only the diagonal is masked number by number
#include <cmath>

#include "core/nn/kernels/attention/block.hpp"

namespace titan::nn::kernels {
namespace {

// Far below every score, and still a number.
constexpr float kMasked = -1e30F;

template <class T, class Operands, std::int64_t kDim>
class Forward {
 public:
  using S = Sizes<Operands, kDim>;
  static constexpr std::int64_t kQueries = S::kQueries, kKeys = kDim > 0 && kDim <= 32 ? 128 : 64;
  static constexpr bool kHasPairs = S::kHasPairs;

  static std::int64_t space_for(const Attention& attention, std::int64_t num_keys) {
    return space_of<Memory>(S(attention), num_keys);
  }

  Forward(const Attention& attention, const AttentionTask& task, Space space)
      : attention_(attention),
        task_(task),
        sizes_(attention),
        exponent_(attention.scale * kLog2E),
        memory_(space, sizes_, task.num_keys) {
    const std::int64_t keys = round_up(task.num_keys, kPadding);
    pack(attention.k, task.first_key, task.kv_head, task.num_keys, keys, memory_.keys);
    pack(attention.v, task.first_key, task.kv_head, task.num_keys, keys, memory_.value_rows);
    if constexpr (kHasPairs) Operands::pair_rows(memory_.value_rows, keys, sizes_.width(), memory_.values);
  }

  void run() {
    const std::int64_t group = attention_.num_heads / attention_.num_kv_heads;
    for (std::int64_t head = task_.kv_head * group; head < (task_.kv_head + 1) * group; ++head) {
      for (std::int64_t block = task_.part; block * kQueries < task_.num_queries; block += task_.num_parts) {
        attend(head, block * kQueries);
      }
    }
  }

 private:
  struct Memory {
    Memory(Space& space, const S& sizes, std::int64_t num_keys) {
      const std::int64_t words = round_up(num_keys, kPadding) * sizes.words();
      keys = space.take(words);
      values = space.take(words);
      value_rows = kHasPairs ? space.take(words) : values;
      query_rows = space.take(kQueries * sizes.words());
      queries = space.take(kQueries * sizes.words());
      out = space.take(kQueries * sizes.width());
      scores = space.take(kKeys * kQueries);
      probabilities = kHasPairs ? space.take(kKeys * kQueries) : scores;
    }
    float *keys, *values, *value_rows, *query_rows, *queries, *out, *scores, *probabilities;
  };

  void pack(const Heads& heads, std::int64_t token, std::int64_t head, std::int64_t rows, std::int64_t padded,
            float* to) const {
    Operands::pack_rows(at<const T>(heads, task_.row, token, head), heads.token, rows, padded, sizes_.dim(),
                        sizes_.width(), to);
  }

  /// Does one block of queries: reads q, writes out and log_sum.
  void attend(std::int64_t head, std::int64_t first) {
    const std::int64_t count = least(kQueries, task_.num_queries - first);
    pack(attention_.q, task_.first_query + first, head, count, kQueries, memory_.query_rows);
    transpose({memory_.query_rows, sizes_.words()}, kQueries, sizes_.words(), {memory_.queries, kQueries});
    for (std::int64_t i = 0; i < sizes_.width() * kQueries; ++i) memory_.out[i] = 0;
    for (int j = 0; j < S::kVecs; ++j) {
      max_[j] = splat(kMasked);
      sum_[j] = splat(0);
    }
    fill_limits(attention_, task_, first, limits_);
    const Sight sight = sight_of(attention_, task_, first, count);
    for (std::int64_t key = 0; key < sight.some; key += kKeys) {
      add_keys(key, round_up(least(kKeys, sight.some - key), kPadding), sight.all);
    }
    write(head, first, count);
  }

  void add_keys(std::int64_t key, std::int64_t count, std::int64_t seen_by_all) {
    for (std::int64_t tile = 0; tile < S::kVecs; tile += kTileVecs) {
      Vec tops[kTileVecs] = {splat(kMasked), splat(kMasked)};
      for (std::int64_t row = 0; row < count; row += kTileKeys) score(key, row, tile, seen_by_all, tops);
      for (std::int64_t j = 0; j < kTileVecs; ++j) raise_max(tile + j, mul(tops[j], splat(exponent_)), key > 0);
      exponentiate(tile, count);
    }
    add_product<Operands>(sizes_.width(), kQueries, count / S::kPerWord,
                          {memory_.values + key / S::kPerWord * sizes_.width(), 1, sizes_.width()},
                          {memory_.probabilities, kQueries}, {memory_.out, kQueries});
  }

  /// The scores of a tile, before the scale, and their maxima.
  void score(std::int64_t key, std::int64_t row, std::int64_t tile, std::int64_t seen_by_all, Vec (&tops)[kTileVecs]) {
    const bool is_masked = key + row + kTileKeys > seen_by_all;
    float* to = memory_.scores + row * kQueries + tile * kWidth;
    multiply_tile<Operands, kTileKeys, kTileVecs>(
        {memory_.keys + (key + row) * sizes_.words(), sizes_.words(), 1}, {memory_.queries + tile * kWidth, kQueries},
        sizes_.words(), [&](Vec(&sums)[kTileKeys][kTileVecs]) TITAN_SIMD_LAMBDA {
          if (__builtin_expect(is_masked, 0)) {
            TITAN_UNROLL
            for (int i = 0; i < kTileKeys; ++i) {
              const Vec number = splat(static_cast<float>(key + row + i));
              TITAN_UNROLL
              for (int j = 0; j < kTileVecs; ++j) {
                sums[i][j] = where_less(number, limits_[tile + j], sums[i][j], splat(kMasked));
              }
            }
          }
          TITAN_UNROLL
          for (int i = 0; i < kTileKeys; ++i) {
            TITAN_UNROLL
            for (int j = 0; j < kTileVecs; ++j) {
              store(to + i * kQueries + j * kWidth, sums[i][j]);
              tops[j] = max(tops[j], sums[i][j]);
            }
          }
        });
  }

  /// Takes a larger maximum, and rescales what was summed with the old one.
  void raise_max(std::int64_t vec, Vec top, bool has_sums) {
    const Vec next = max(max_[vec], top);
    if (has_sums) {
      const Vec factor = exp2(sub(max_[vec], next));
      sum_[vec] = mul(sum_[vec], factor);
      float* out = memory_.out + vec * kWidth;
      for (std::int64_t i = 0; i < sizes_.width(); ++i, out += kQueries) store(out, mul(load(out), factor));
    }
    max_[vec] = next;
  }

  /// Scores to probabilities, not divided by their sum yet.
  void exponentiate(std::int64_t tile, std::int64_t count) {
    const Vec factor = splat(exponent_), top[kTileVecs] = {max_[tile], max_[tile + 1]};
    Vec sums[kTileVecs] = {splat(0), splat(0)};
    const float* from = memory_.scores + tile * kWidth;
    for (std::int64_t row = 0; row < count; row += 2, from += 2 * kQueries) {
      TilePair even, odd;
      TITAN_UNROLL
      for (int j = 0; j < kTileVecs; ++j) {
        even[j] = Operands::probability(mul_sub(load(from + j * kWidth), factor, top[j]));
        odd[j] = Operands::probability(mul_sub(load(from + kQueries + j * kWidth), factor, top[j]));
        sums[j] = add(sums[j], add(even[j], odd[j]));
      }
      float* to = memory_.probabilities + row / S::kPerWord * kQueries + tile * kWidth;
      if constexpr (kHasPairs) {
        Operands::put_pairs(to, even, odd);
      } else {
        Operands::put_rows(to, kQueries, even, odd);
      }
    }
    for (std::int64_t j = 0; j < kTileVecs; ++j) sum_[tile + j] = add(sum_[tile + j], sums[j]);
  }

  void write(std::int64_t head, std::int64_t first, std::int64_t count) const {
    float tops[kQueries], sums[kQueries];
    for (std::int64_t j = 0; j < S::kVecs; ++j) {
      store(tops + j * kWidth, max_[j]);
      store(sums + j * kWidth, sum_[j]);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t token = task_.first_query + first + i;
      *at(attention_.log_sum, task_.row, token, head) = tops[i] * kLn2 + ::logf(sums[i]);
      T* to = at<T>(attention_.out, task_.row, token, head);
      const float factor = 1 / sums[i];
      for (std::int64_t d = 0; d < sizes_.dim(); ++d) narrow_to(to[d], memory_.out[d * kQueries + i] * factor);
    }
  }

  const Attention& attention_;
  const AttentionTask& task_;
  const S sizes_;
  const float exponent_;  // scores to powers of two
  const Memory memory_;
  Vec max_[S::kVecs], sum_[S::kVecs], limits_[S::kVecs];
};

}  // namespace
}  // namespace titan::nn::kernels
