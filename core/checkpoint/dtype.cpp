#include "core/checkpoint/dtype.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "core/base/error.hpp"

namespace titan::checkpoint {

namespace {

struct DTypeFacts {
  DType dtype;
  std::size_t size;
  bool is_floating;
  std::string_view safetensors, torch;
};

constexpr std::array kDTypes = {
    DTypeFacts{DType::f64, 8, true, "F64", "float64"}, DTypeFacts{DType::f32, 4, true, "F32", "float32"},
    DTypeFacts{DType::f16, 2, true, "F16", "float16"}, DTypeFacts{DType::bf16, 2, true, "BF16", "bfloat16"},
    DTypeFacts{DType::i64, 8, false, "I64", "int64"},  DTypeFacts{DType::i32, 4, false, "I32", "int32"},
    DTypeFacts{DType::i16, 2, false, "I16", "int16"},  DTypeFacts{DType::i8, 1, false, "I8", "int8"},
    DTypeFacts{DType::u8, 1, false, "U8", "uint8"},    DTypeFacts{DType::boolean, 1, false, "BOOL", "bool"},
};

const DTypeFacts& facts(DType dtype) { return kDTypes.at(static_cast<std::size_t>(dtype)); }

std::optional<DType> find(std::string_view DTypeFacts::*name, std::string_view wanted) {
  for (const DTypeFacts& each : kDTypes) {
    if (each.*name == wanted) return each.dtype;
  }
  return std::nullopt;
}

static_assert(std::numeric_limits<float>::is_iec559 && std::numeric_limits<double>::is_iec559);

/// Rounds to the next float towards zero, and to the one with an odd last bit where something was cut off: rounding
/// that once more, to a type with at least two bits less, gives what rounding the double to that type would.
float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  const std::uint64_t magnitude = std::bit_cast<std::uint64_t>(value) << 1U;
  const bool is_away = (std::bit_cast<std::uint64_t>(back) << 1U) > magnitude;
  const bool is_inexact = back < value || back > value;  // false for NaN
  bits = is_inexact ? (bits - (is_away ? 1U : 0U)) | 1U : bits;
  return std::bit_cast<float>(bits);
}

// One struct for each floating type: how its elements lie in memory, and what they are computed with.
struct F64 {
  using Stored = double;
  static double widen(double value) { return value; }
  static double narrow(double value) { return value; }  // a float becomes a double first: exact
};

struct F32 {
  using Stored = float;
  static float widen(float value) { return value; }
  static float narrow(float value) { return value; }
  static float narrow(double value) { return static_cast<float>(value); }
};

struct BF16 {
  using Stored = std::uint16_t;
  static float widen(std::uint16_t value) { return std::bit_cast<float>(std::uint32_t{value} << 16U); }
  static std::uint16_t narrow(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
    const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) >> 16U;
    return static_cast<std::uint16_t>(is_nan ? (bits >> 16U) | 0x40U : rounded);
  }
  static std::uint16_t narrow(double value) { return narrow(round_to_odd(value)); }
};

struct F16 {
  using Stored = std::uint16_t;

  static float widen(std::uint16_t value) {
    const std::uint32_t sign = std::uint32_t{value & 0x8000U} << 16U;
    const std::uint32_t rest = std::uint32_t{value & 0x7FFFU} << 13U;
    constexpr std::uint32_t kRebias = (127U - 15U) << 23U;
    const std::uint32_t normal = rest + kRebias;
    const std::uint32_t special = normal + kRebias;  // infinite, NaN
    // A subnormal number is what its bits add to the smallest normal one.
    constexpr float kSmallest = 0x1p-14F;
    const float subnormal = std::bit_cast<float>(normal + (1U << 23U)) - kSmallest;
    const std::uint32_t bits = rest < (1U << 23U)     ? std::bit_cast<std::uint32_t>(subnormal)
                               : rest >= (31U << 23U) ? special
                                                      : normal;
    return std::bit_cast<float>(bits | sign);
  }

  static std::uint16_t narrow(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits >> 16U) & 0x8000U;
    const std::uint32_t rest = bits & 0x7FFFFFFFU;
    constexpr std::uint32_t kRebias = (127U - 15U) << 23U;
    const std::uint32_t normal = (rest - kRebias + 0xFFFU + ((rest >> 13U) & 1U)) >> 13U;
    // 0.5 has a last bit that counts 2^-24, as f16's subnormal numbers have: adding it rounds.
    const float sum = std::bit_cast<float>(rest) + 0.5F;
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5F);
    constexpr std::uint32_t kSmallestNormal = 113U << 23U, kFirstInfinite = 0x477FF000U, kInfinite = 0x7F800000U;
    std::uint32_t out = rest < kSmallestNormal ? subnormal : normal;
    out = rest >= kFirstInfinite ? 0x7C00U : out;
    out = rest > kInfinite ? 0x7E00U | ((rest >> 13U) & 0x3FFU) : out;
    return static_cast<std::uint16_t>(out | sign);
  }
  static std::uint16_t narrow(double value) { return narrow(round_to_odd(value)); }
};

template <class From, class To>
void convert_all(const std::byte* from, std::byte* to, std::size_t count) {
  using In = typename From::Stored;
  using Out = typename To::Stored;
  for (std::size_t i = 0; i < count; ++i) {
    In in;
    std::memcpy(&in, from + i * sizeof(In), sizeof(In));
    const Out out = To::narrow(From::widen(in));
    std::memcpy(to + i * sizeof(Out), &out, sizeof(Out));
  }
}

/// Calls `action` with the struct of a floating type.
template <class Action>
void with_type(DType dtype, const Action& action) {
  switch (dtype) {
    case DType::f64:
      return action(F64{});
    case DType::f32:
      return action(F32{});
    case DType::f16:
      return action(F16{});
    case DType::bf16:
      return action(BF16{});
    default:
      throw InternalError("[checkpoint] not a floating type: ", torch_name(dtype));
  }
}

}  // namespace

std::size_t element_size(DType dtype) { return facts(dtype).size; }

bool is_floating(DType dtype) { return facts(dtype).is_floating; }

std::string_view safetensors_name(DType dtype) { return facts(dtype).safetensors; }

std::optional<DType> dtype_of_safetensors(std::string_view name) { return find(&DTypeFacts::safetensors, name); }

std::string_view torch_name(DType dtype) { return facts(dtype).torch; }

std::optional<DType> dtype_of_torch(std::string_view name) { return find(&DTypeFacts::torch, name); }

void convert(std::span<const std::byte> from, DType from_dtype, std::span<std::byte> to, DType to_dtype) {
  const std::size_t count = from.size() / element_size(from_dtype);
  TITAN_CHECK(count * element_size(from_dtype) == from.size() && count * element_size(to_dtype) == to.size(),
              "not the same number of elements");
  if (from_dtype == to_dtype) {
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
    return;
  }
  with_type(from_dtype, [&](auto in) {
    with_type(to_dtype, [&](auto out) { convert_all<decltype(in), decltype(out)>(from.data(), to.data(), count); });
  });
}

}  // namespace titan::checkpoint
