#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace titan::corpus {

/// Draws numbers that depend on the seed alone, on every machine: whole numbers only.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    std::uint64_t value = state_;
    value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    value = (value ^ (value >> 27U)) * 0x94D049BB133111EBULL;
    return value ^ (value >> 31U);
  }
  std::size_t below(std::size_t bound) { return next() % bound; }
  /// A number from `lowest` to `highest`.
  std::size_t between(std::size_t lowest, std::size_t highest) { return lowest + below(highest - lowest + 1); }
  bool chance(unsigned percent) { return below(100) < percent; }

  /// A rank below `count`, low ones far more often: the weight of rank r is (r + head) to the power -1.5. With a larger
  /// head the first ranks differ less.
  std::size_t rank(std::size_t count, unsigned head = 1);

 private:
  std::uint64_t state_;
};

}  // namespace titan::corpus
