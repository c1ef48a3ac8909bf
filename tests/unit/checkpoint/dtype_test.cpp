#include "core/checkpoint/dtype.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/base/error.hpp"

namespace titan::checkpoint {
namespace {

constexpr DType kFloating[] = {DType::f64, DType::f32, DType::f16, DType::bf16};
constexpr DType kAll[] = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64,
                          DType::i32, DType::i16, DType::i8,  DType::u8,   DType::boolean};

/// What a floating type can hold, apart from the code under test.
struct Range {
  int digits;        // of the significand, the hidden one included
  int min_exponent;  // of the last bit of subnormal numbers
  double largest;
};

Range range_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return {53, -1074, std::numeric_limits<double>::max()};
    case DType::f32:
      return {24, -149, std::numeric_limits<float>::max()};
    case DType::f16:
      return {11, -24, 65504.0};
    default:
      return {8, -133, 0x1.FEp127};
  }
}

/// Rounds to the nearest number of the type by scaling its last bit to 1: ties to even.
double rounded(double value, DType dtype) {
  if (!std::isfinite(value) || value == 0) return value;
  const Range range = range_of(dtype);
  const int unit = std::max(std::ilogb(value) - range.digits + 1, range.min_exponent);
  const double near = std::ldexp(std::nearbyint(std::ldexp(value, -unit)), unit);
  return std::abs(near) > range.largest ? std::copysign(std::numeric_limits<double>::infinity(), value) : near;
}

template <class To>
std::vector<To> converted(const void* from, std::size_t count, DType from_dtype, DType to_dtype) {
  std::vector<To> to(count);
  convert({static_cast<const std::byte*>(from), count * element_size(from_dtype)}, from_dtype,
          std::as_writable_bytes(std::span(to)), to_dtype);
  return to;
}

/// The numbers in a type and, by way of the type itself, as doubles again.
std::vector<double> through(const std::vector<double>& values, DType dtype) {
  std::vector<std::byte> narrow(values.size() * element_size(dtype));
  convert(std::as_bytes(std::span(values)), DType::f64, narrow, dtype);
  return converted<double>(narrow.data(), values.size(), dtype, DType::f64);
}

/// Numbers near everything that matters to a type: each exponent, ties, and neighbours of ties.
std::vector<double> hard_numbers(DType dtype) {
  const Range range = range_of(dtype);
  std::vector<double> numbers = {0.0, -0.0, std::numeric_limits<double>::infinity(), range.largest};
  std::mt19937_64 random(7);
  for (int exponent = std::max(range.min_exponent - 3, -1074); exponent < 1000; ++exponent) {
    for (int i = 0; i < 20; ++i) {
      const double whole = static_cast<double>(random() >> (64 - range.digits));
      const double tie = std::ldexp(whole + 0.5, exponent);
      for (const double number :
           {tie, std::nextafter(tie, 0.0), std::nextafter(tie, HUGE_VAL), std::ldexp(whole, exponent)}) {
        numbers.push_back(number);
        numbers.push_back(-number);
      }
    }
  }
  return numbers;
}

bool is_same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

TEST(DTypeTest, RoundsDoublesOnceToTheNearestTiesToEven) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const std::vector<double> numbers = hard_numbers(dtype);
    const std::vector<double> found = through(numbers, dtype);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_TRUE(is_same(found[i], rounded(numbers[i], dtype)))
          << torch_name(dtype) << ": " << numbers[i] << " became " << found[i];
    }
  }
}

TEST(DTypeTest, DoesNotRoundTwice) {
  // Just above the middle of 1 and the next bf16 number: as a float it is that middle, which would go down to 1.
  const std::vector<double> numbers = {1.0 + 0x1p-8 + 0x1p-40, 1.0 + 0x1p-11 + 0x1p-40};
  EXPECT_EQ(through({numbers[0]}, DType::bf16)[0], 1.0 + 0x1p-7);
  EXPECT_EQ(through({numbers[1]}, DType::f16)[0], 1.0 + 0x1p-10);
}

TEST(DTypeTest, RoundsEachFloatAsItsDouble) {
  std::mt19937 random(3);
  std::vector<float> floats;
  for (int i = 0; i < 300'000; ++i) floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(random())));
  for (const double number : hard_numbers(DType::f16)) floats.push_back(static_cast<float>(number));
  for (const DType dtype : {DType::f16, DType::bf16}) {
    const auto narrow = converted<std::uint16_t>(floats.data(), floats.size(), DType::f32, dtype);
    const auto found = converted<double>(narrow.data(), floats.size(), dtype, DType::f64);
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const double expected = rounded(floats[i], dtype);
      ASSERT_TRUE(is_same(found[i], expected) || (std::isnan(found[i]) && std::isnan(expected))) << floats[i];
    }
  }
}

TEST(DTypeTest, EveryHalfSurvivesEveryWiderType) {
  std::vector<std::uint16_t> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
  for (const DType half : {DType::f16, DType::bf16}) {
    for (const DType wide : {DType::f32, DType::f64}) {
      std::vector<std::byte> there(halves.size() * element_size(wide));
      convert(std::as_bytes(std::span(halves)), half, there, wide);
      const auto back = converted<std::uint16_t>(there.data(), halves.size(), wide, half);
      const auto values = converted<float>(halves.data(), halves.size(), half, DType::f32);
      for (std::size_t i = 0; i < halves.size(); ++i) {
        ASSERT_TRUE(back[i] == halves[i] || std::isnan(values[i])) << i;
      }
    }
  }
}

TEST(DTypeTest, HalvesHaveTheirValues) {
  const std::vector<std::uint16_t> halves = {0x0001, 0x03FF, 0x0400, 0x3C00, 0x7BFF, 0x8000, 0xFC00};
  EXPECT_EQ(converted<float>(halves.data(), halves.size(), DType::f16, DType::f32),
            (std::vector<float>{0x1p-24F, 0x3FFp-24F, 0x1p-14F, 1.0F, 65504.0F, -0.0F,
                                -std::numeric_limits<float>::infinity()}));
  const std::vector<std::uint16_t> brains = {0x3F80, 0xC000, 0x7F80};
  EXPECT_EQ(converted<float>(brains.data(), brains.size(), DType::bf16, DType::f32),
            (std::vector<float>{1.0F, -2.0F, std::numeric_limits<float>::infinity()}));
}

TEST(DTypeTest, NanStaysNan) {
  // Payloads in the bits that are cut off: they must not become an infinity.
  const std::vector<std::uint32_t> bits = {0x7FC00000, 0x7F800001, 0xFF800001, 0x7FFFFFFF, 0xFFFFFFFF};
  for (const DType half : {DType::f16, DType::bf16}) {
    const auto narrow = converted<std::uint16_t>(bits.data(), bits.size(), DType::f32, half);
    for (const double value : converted<double>(narrow.data(), narrow.size(), half, DType::f64)) {
      EXPECT_TRUE(std::isnan(value));
    }
  }
  const std::vector<double> doubles = {std::numeric_limits<double>::quiet_NaN(),
                                       std::bit_cast<double>(std::uint64_t{0xFFF0000000000001})};
  for (const DType dtype : kFloating) {
    for (const double value : through(doubles, dtype)) EXPECT_TRUE(std::isnan(value)) << torch_name(dtype);
  }
}

TEST(DTypeTest, CopiesEqualTypesBitByBit) {
  const std::vector<std::uint8_t> bytes = {0, 1, 0x80, 0xFF, 0x7F, 0xC0, 3, 9};
  for (const DType dtype : kAll) {
    const std::size_t count = bytes.size() / element_size(dtype);
    std::vector<std::uint8_t> out(bytes.size());
    convert(std::as_bytes(std::span(bytes)), dtype, std::as_writable_bytes(std::span(out)), dtype);
    EXPECT_EQ(out, bytes) << torch_name(dtype) << count;
  }
  convert({}, DType::f32, {}, DType::bf16);
}

TEST(DTypeTest, RefusesWhatIsNoConversion) {
  const std::vector<std::uint8_t> bytes(8);
  std::vector<std::uint8_t> out(8);
  const auto attempt = [&](DType from, DType to) {
    convert(std::as_bytes(std::span(bytes)), from, std::as_writable_bytes(std::span(out)), to);
  };
  EXPECT_THROW(attempt(DType::i64, DType::f64), InternalError);
  EXPECT_THROW(attempt(DType::f16, DType::i16), InternalError);
  EXPECT_THROW(attempt(DType::f32, DType::bf16), InternalError);  // 2 elements, room for 4
}

TEST(DTypeTest, NamesLeadBackToTheirType) {
  for (const DType dtype : kAll) {
    EXPECT_EQ(dtype_of_safetensors(safetensors_name(dtype)), dtype);
    EXPECT_EQ(dtype_of_torch(torch_name(dtype)), dtype);
  }
  EXPECT_EQ(safetensors_name(DType::bf16), "BF16");
  EXPECT_EQ(torch_name(DType::boolean), "bool");
  EXPECT_EQ(dtype_of_safetensors("f32"), std::nullopt);
  EXPECT_EQ(dtype_of_torch("F32"), std::nullopt);
}

TEST(DTypeTest, KnowsSizesAndKinds) {
  EXPECT_EQ(element_size(DType::f64), 8U);
  EXPECT_EQ(element_size(DType::bf16), 2U);
  EXPECT_EQ(element_size(DType::boolean), 1U);
  for (const DType dtype : kFloating) EXPECT_TRUE(is_floating(dtype));
  EXPECT_FALSE(is_floating(DType::i16));
}

}  // namespace
}  // namespace titan::checkpoint
