#include "core/app/checkpoint/tensor_comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace titan::app {
namespace {

using checkpoint::DType;

// Every element of every dtype, and every difference of two, has a number of this type.
static_assert(std::numeric_limits<long double>::digits >= 64);

/// Elements whose values are looked at together.
constexpr std::size_t kMostAtOnce = 4096;

template <class Element>
Element element_at(std::span<const std::byte> bytes, std::size_t at) {
  Element element;
  std::memcpy(&element, bytes.data() + at * sizeof element, sizeof element);
  return element;
}

/// Calls `use` with a value of the type that holds an element's bits: for floating types a number without sign.
template <class Use>
auto with_element_type(DType dtype, const Use& use) {
  switch (dtype) {
    case DType::f64:
      return use(std::uint64_t{});
    case DType::f32:
      return use(std::uint32_t{});
    case DType::f16:
    case DType::bf16:
      return use(std::uint16_t{});
    case DType::i64:
      return use(std::int64_t{});
    case DType::i32:
      return use(std::int32_t{});
    case DType::i16:
      return use(std::int16_t{});
    case DType::i8:
      return use(std::int8_t{});
    default:
      return use(std::uint8_t{});
  }
}

/// The values of kMostAtOnce elements at most.
void read_values(const Elements& elements, std::span<long double> values) {
  if (checkpoint::is_floating(elements.dtype)) {
    std::array<double, kMostAtOnce> doubles;
    const std::span<double> read(doubles.data(), values.size());
    checkpoint::convert(elements.bytes, elements.dtype, std::as_writable_bytes(read), DType::f64);
    std::ranges::copy(read, values.begin());
    return;
  }
  with_element_type(elements.dtype, [&](auto kind) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<long double>(element_at<decltype(kind)>(elements.bytes, i));
    }
  });
}

/// The largest magnitude among numbers that are finite.
template <class Number>
long double largest_whole(std::span<const std::byte> bytes) {
  Number least = 0, most = 0;
  for (std::size_t i = 0; i < bytes.size() / sizeof(Number); ++i) {
    const auto value = element_at<Number>(bytes, i);
    least = std::min(least, value);
    most = std::max(most, value);
  }
  return std::max(static_cast<long double>(most), -static_cast<long double>(least));
}

/// Magnitudes of floating types are in the order of their bits, and those of infinity come behind all that are finite.
template <class Bits>
long double largest_floating(const Elements& elements, Bits infinity) {
  constexpr Bits kMagnitude = std::numeric_limits<Bits>::max() >> 1U;
  Bits largest = 0;
  for (std::size_t i = 0; i < elements.bytes.size() / sizeof(Bits); ++i) {
    const auto magnitude = static_cast<Bits>(element_at<Bits>(elements.bytes, i) & kMagnitude);
    largest = std::max(largest, magnitude < infinity ? magnitude : Bits{0});
  }
  long double value = 0;
  read_values({std::as_bytes(std::span(&largest, 1)), elements.dtype}, {&value, 1});
  return value;
}

long double largest_of(const Elements& elements) {
  switch (elements.dtype) {
    case DType::f64:
      return largest_floating<std::uint64_t>(elements, 0x7FF0'0000'0000'0000U);
    case DType::f32:
      return largest_floating<std::uint32_t>(elements, 0x7F80'0000U);
    case DType::f16:
      return largest_floating<std::uint16_t>(elements, 0x7C00U);
    case DType::bf16:
      return largest_floating<std::uint16_t>(elements, 0x7F80U);
    default:
      return with_element_type(elements.dtype,
                               [&](auto kind) { return largest_whole<decltype(kind)>(elements.bytes); });
  }
}

bool is_same_value(long double a, long double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

void TensorComparison::add(const Elements& a, const Elements& b) {
  largest_ = std::max(largest_, largest_of(b));
  const std::size_t a_size = checkpoint::element_size(a.dtype), b_size = checkpoint::element_size(b.dtype);
  const std::size_t count = a.bytes.size() / a_size;
  for (std::size_t at = 0; at < count; at += kMostAtOnce) {
    const std::size_t some = std::min(kMostAtOnce, count - at);
    compare({a.bytes.subspan(at * a_size, some * a_size), a.dtype},
            {b.bytes.subspan(at * b_size, some * b_size), b.dtype});
  }
}

void TensorComparison::compare(const Elements& a, const Elements& b) {
  const bool same_type = a.dtype == b.dtype;
  // Most tensors of most pairs are equal: their values need not be looked at.
  if (same_type && std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0) return;
  const std::size_t size = checkpoint::element_size(a.dtype), count = a.bytes.size() / size;
  std::array<long double, kMostAtOnce> a_values, b_values;
  read_values(a, {a_values.data(), count});
  read_values(b, {b_values.data(), count});
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_equal = same_type ? std::memcmp(&a.bytes[i * size], &b.bytes[i * size], size) == 0
                                    : is_same_value(a_values[i], b_values[i]);
    if (!is_equal) note(a_values[i], b_values[i]);
  }
}

void TensorComparison::note(long double a, long double b) {
  ++num_differing_;
  if (is_same_value(a, b)) return;  // zeros of two signs, or numbers that are none
  const long double gap = std::abs(a - b);
  absolute_ = std::max(absolute_, std::isnan(gap) ? std::numeric_limits<long double>::infinity() : gap);
}

TensorDifference TensorComparison::finish() const {
  TensorDifference difference;
  difference.num_differing = num_differing_;
  difference.absolute = static_cast<double>(absolute_);
  if (absolute_ > 0 && (largest_ == 0 || std::isinf(absolute_))) {
    difference.relative = std::numeric_limits<double>::infinity();
  } else if (absolute_ > 0) {
    difference.relative = static_cast<double>(absolute_ / largest_);
  }
  return difference;
}

}  // namespace titan::app
