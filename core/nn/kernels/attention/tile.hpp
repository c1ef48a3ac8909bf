#pragma once

// One product of small matrices serves all that attention multiplies: C[m][n] += sum over r of A(m, r) * B[r][n].
//
//            n ->   b[0]     b[1]            A's elements are splat over a vector, B's and C's lie in vectors along n.
//                 +--------+--------+        kRows x kVecs sums stay in registers while r runs:
//    A(m, r) -> m | sum 00 | sum 01 |          AVX-512   8 x 2 sums + 2 of B + 1 of A = 19 of 32 registers
//               | | sum 10 | sum 11 |                   16 x 1 sums + 1 + 1         = 18 of 32 where n is one vector
//               v |  ...   |  ...   |          AVX2      4 x 2 sums + 2 + 1         = 11 of 16
//                 +--------+--------+        For each r: kVecs loads of B, kRows of A, kRows * kVecs multiplications.
//
// Scores are kept transposed, rows keys and lanes queries. So a row's maximum and sum are lane by lane, and the
// probabilities are the next product's B as they stand: no transpose and no sum across a vector anywhere.
//
// A word is what a lane of A and B holds: one fp32 (Singles), or two bf16 that are neighbours along r (Pairs).
#include "core/nn/kernels/attention/simd.hpp"

namespace titan::nn::kernels {
namespace {

constexpr int kTileKeys = kWidth == 16 ? 8 : 4, kTileVecs = 2;
constexpr std::int64_t kTileLanes = kTileVecs * kWidth;
// Dims and numbers of keys are padded to this with zeros.
constexpr std::int64_t kPadding = 16;

using TilePair = Vec[kTileVecs];

struct Singles {
  static constexpr std::int64_t kPerWord = 1;
  TITAN_SIMD Vec multiply_add(Vec a, Vec b, Vec c) { return mul_add(a, b, c); }
  TITAN_SIMD Vec probability(Vec x) { return exp2(x); }

  /// Rows of `dim` elements as words [padded][width / kPerWord], zeros where there is nothing.
  template <class T>
  TITAN_SIMD void pack_rows(const T* from, std::int64_t stride, std::int64_t rows, std::int64_t padded,
                            std::int64_t dim, std::int64_t width, float* to) {
    for (std::int64_t row = 0; row < rows; ++row, from += stride, to += width) {
      for (std::int64_t i = 0; i < dim; ++i) to[i] = widen(from[i]);
      for (std::int64_t i = dim; i < width; ++i) to[i] = 0;
    }
    for (std::int64_t i = 0; i < (padded - rows) * width; ++i) to[i] = 0;
  }
  /// Two rows of a tile, at rows `row` and `row` + 1 of [rows][step] elements.
  TITAN_SIMD void put_rows(float* rows, std::int64_t step, const TilePair& even, const TilePair& odd) {
    TITAN_UNROLL
    for (int j = 0; j < kTileVecs; ++j) {
      store(rows + j * kWidth, even[j]);
      store(rows + step + j * kWidth, odd[j]);
    }
  }
};

#ifdef TITAN_SIMD_PAIRS
struct Pairs {
  static constexpr std::int64_t kPerWord = 2;
  TITAN_SIMD Vec multiply_add(Vec a, Vec b, Vec c) { return pair_mul_add(a, b, c); }
  /// Rounded to bf16 next: need not be better.
  TITAN_SIMD Vec probability(Vec x) { return coarse_exp2(x); }

  TITAN_SIMD void pack_rows(const std::uint16_t* from, std::int64_t stride, std::int64_t rows, std::int64_t padded,
                            std::int64_t dim, std::int64_t width, float* words) {
    auto* to = reinterpret_cast<std::uint16_t*>(words);
    for (std::int64_t row = 0; row < rows; ++row, from += stride, to += width) {
      __builtin_memcpy(to, from, static_cast<std::size_t>(dim) * sizeof *to);
      for (std::int64_t i = dim; i < width; ++i) to[i] = 0;
    }
    __builtin_memset(to, 0, static_cast<std::size_t>((padded - rows) * width) * sizeof *to);
  }
  /// As words [padded / 2][width] of an element of an even row and the one below it.
  TITAN_SIMD void pair_rows(const float* rows, std::int64_t padded, std::int64_t width, float* words) {
    const auto* from = reinterpret_cast<const std::uint16_t*>(rows);
    auto* to = reinterpret_cast<std::uint32_t*>(words);
    for (std::int64_t row = 0; row < padded; row += 2, from += 2 * width, to += width) {
      for (std::int64_t i = 0; i < width; ++i) to[i] = from[i] | static_cast<std::uint32_t>(from[i + width]) << 16;
    }
  }
  TITAN_SIMD void put_rows(float* rows, std::int64_t step, const TilePair& even, const TilePair& odd) {
    auto* to = reinterpret_cast<std::uint16_t*>(rows);
    store(to, narrow(even[0], even[1]));
    store(to + step, narrow(odd[0], odd[1]));
  }
  /// Two rows of a tile as one row of words.
  TITAN_SIMD void put_pairs(float* words, const TilePair& even, const TilePair& odd) {
    Vec low, high;
    zip(narrow(even[0], even[1]), narrow(odd[0], odd[1]), low, high);
    store(words, low);
    store(words + kWidth, high);
  }
};
#endif

/// Words of A: row m begins at data + m * row, its words are `step` apart.
struct Left {
  const float* data;
  std::int64_t row, step;
};
/// Words or numbers in rows that are `step` apart.
template <class Pointer>
struct Rows {
  Pointer data;
  std::int64_t step;
};

/// finish(sums) gets one tile of A * B.
template <class Operands, int kRows, int kVecs, class Finish>
TITAN_SIMD void multiply_tile(const Left& a, const Rows<const float*>& b, std::int64_t depth, const Finish& finish) {
  Vec sums[kRows][kVecs];
  TITAN_UNROLL
  for (int i = 0; i < kRows; ++i) {
    TITAN_UNROLL
    for (int j = 0; j < kVecs; ++j) sums[i][j] = splat(0);
  }
  const float *left = a.data, *right = b.data;
  for (std::int64_t r = 0; r < depth; ++r, left += a.step, right += b.step) {
    Vec row[kVecs];
    TITAN_UNROLL
    for (int j = 0; j < kVecs; ++j) row[j] = load(right + j * kWidth);
    TITAN_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const Vec factor = splat(left[i * a.row]);
      TITAN_UNROLL
      for (int j = 0; j < kVecs; ++j) sums[i][j] = Operands::multiply_add(factor, row[j], sums[i][j]);
    }
  }
  finish(sums);
}

template <class Operands, int kRows, int kVecs>
TITAN_SIMD void add_tiles(std::int64_t m, std::int64_t n, std::int64_t depth, const Left& a,
                          const Rows<const float*>& b, const Rows<float*>& c) {
  for (std::int64_t column = 0; column < n; column += kVecs * kWidth) {
    for (std::int64_t row = 0; row < m; row += kRows) {
      float* to = c.data + row * c.step + column;
      multiply_tile<Operands, kRows, kVecs>({a.data + row * a.row, a.row, a.step}, {b.data + column, b.step}, depth,
                                            [&](Vec(&sums)[kRows][kVecs]) TITAN_SIMD_LAMBDA {
                                              TITAN_UNROLL
                                              for (int i = 0; i < kRows; ++i) {
                                                TITAN_UNROLL
                                                for (int j = 0; j < kVecs; ++j) {
                                                  float* at = to + i * c.step + j * kWidth;
                                                  store(at, add(load(at), sums[i][j]));
                                                }
                                              }
                                            });
    }
  }
}

/// c [m][n] += a [m][depth] * b [depth][n]; m and n multiples of kPadding, or m of kTileKeys and n of kTileLanes.
template <class Operands>
TITAN_SIMD void add_product(std::int64_t m, std::int64_t n, std::int64_t depth, const Left& a,
                            const Rows<const float*>& b, const Rows<float*>& c) {
  if (n % kTileLanes == 0) {
    add_tiles<Operands, kTileKeys, kTileVecs>(m, n, depth, a, b, c);
  } else {
    add_tiles<Operands, 16, 1>(m, n, depth, a, b, c);
  }
}

/// to[column][row] = from[row][column], of words.
TITAN_SIMD void transpose(const Rows<const float*>& from, std::int64_t rows, std::int64_t columns,
                          const Rows<float*>& to) {
  for (std::int64_t column = 0; column < columns; ++column) {
    for (std::int64_t row = 0; row < rows; ++row) {
      to.data[column * to.step + row] = from.data[row * from.step + column];
    }
  }
}

}  // namespace
}  // namespace titan::nn::kernels
