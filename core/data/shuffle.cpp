#include "core/data/shuffle.hpp"

#include <numeric>
#include <utility>

#include "core/base/error.hpp"

namespace titan::data {

namespace {

/// Mixes a counter into 64 bits without pattern (the finaliser of SplitMix64).
std::uint64_t mix(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15ULL;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBULL;
  return value ^ (value >> 31U);
}

/// Draws numbers below a bound, without bias.
class Draws {
 public:
  explicit Draws(std::uint64_t key) : key_(key) {}

  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t unbiased = UINT64_MAX - UINT64_MAX % bound;
    std::uint64_t draw = 0;
    do {
      draw = mix(key_ ^ mix(counter_++));
    } while (draw >= unbiased);
    return draw % bound;
  }

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
};

}  // namespace

std::vector<std::uint32_t> shuffled_order(std::uint64_t count, std::uint64_t seed, std::uint64_t epoch,
                                          std::uint64_t shard) {
  TITAN_CHECK(count <= UINT32_MAX, "documents in a shard: ", count);
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  Draws draws(mix(mix(mix(seed) ^ epoch) ^ shard));
  for (std::uint64_t i = count; i > 1; --i) std::swap(order[i - 1], order[draws.below(i)]);
  return order;
}

}  // namespace titan::data
