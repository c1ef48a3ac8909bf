#include "core/checkpoint/tiling.hpp"

#include <array>
#include <cstring>
#include <random>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"

namespace titan::checkpoint {

namespace {

// Which elements a set of boxes covers, and how often, is known from their corners, each counted with a sign: the
// product over the dims of x(begin) - x(end), where x(0), x(1), ... are indeterminates of that dim, summed over the
// boxes, equals that product for the whole tensor if and only if every element is covered exactly once. Instead of the
// polynomials (2^dims corners for each box) their values at a random point are compared, in a field of 2^61 - 1
// numbers: others agree there with a probability below dims / 2^60, and the point is drawn anew each time.
class CornerSum {
 public:
  CornerSum() {
    std::random_device random;
    seed_ = (std::uint64_t{random()} << 32U) | random();
  }

  void add(const std::vector<std::int64_t>& offset, const std::vector<std::int64_t>& size) {
    std::uint64_t product = 1;
    for (std::size_t dim = 0; dim < size.size(); ++dim) {
      product = times(product, minus(value_at(dim, offset[dim]), value_at(dim, offset[dim] + size[dim])));
    }
    sum_ = (sum_ + product) % kPrime;
  }

  std::uint64_t sum() const { return sum_; }
  void restart() { sum_ = 0; }

 private:
  static constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61U) - 1;

  static std::uint64_t times(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b % kPrime);
  }
  static std::uint64_t minus(std::uint64_t a, std::uint64_t b) { return (a + kPrime - b) % kPrime; }

  std::uint64_t value_at(std::size_t dim, std::int64_t index) const {
    const std::array<std::int64_t, 2> where = {static_cast<std::int64_t>(dim), index};
    std::array<char, sizeof where> bytes{};
    std::memcpy(bytes.data(), where.data(), sizeof where);
    return hash64(std::string_view(bytes.data(), bytes.size()), seed_) % kPrime;
  }

  std::uint64_t seed_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace

std::string tiling_fault(const std::vector<std::int64_t>& shape, std::span<const StoredPart> parts) {
  constexpr const char* kOverlap = "its parts overlap";
  const std::int64_t elements = num_elements(shape);
  std::int64_t covered = 0;
  for (const StoredPart& part : parts) {
    const std::int64_t size = lies_in(part.box, shape) ? num_elements(part.box.size) : 0;
    if (size == 0) return "a part has no elements, or does not lie in it";
    if (size > elements - covered) return kOverlap;
    covered += size;
  }
  if (covered < elements) return concat("its parts leave a gap: ", elements - covered, " of ", elements, " elements");
  if (parts.size() <= 1) return {};  // it is the whole
  CornerSum sum;
  for (const StoredPart& part : parts) sum.add(part.box.offset, part.box.size);
  const std::uint64_t of_parts = sum.sum();
  sum.restart();
  sum.add(std::vector<std::int64_t>(shape.size(), 0), shape);
  return of_parts == sum.sum() ? std::string() : kOverlap;
}

}  // namespace titan::checkpoint
