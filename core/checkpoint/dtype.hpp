#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace titan::checkpoint {

/// Types of elements that checkpoints hold.
enum class DType : std::uint8_t { f64, f32, f16, bf16, i64, i32, i16, i8, u8, boolean };

/// Bytes of one element.
std::size_t element_size(DType dtype);
bool is_floating(DType dtype);

/// safetensors' name: "F32", "BF16", "BOOL".
std::string_view safetensors_name(DType dtype);
std::optional<DType> dtype_of_safetensors(std::string_view name);
/// PyTorch's name, as options have it: "float32", "bfloat16", "bool".
std::string_view torch_name(DType dtype);
std::optional<DType> dtype_of_torch(std::string_view name);

/// Writes the elements of `from` as elements of another type; ties to even, overflow becomes infinite. The spans do not
/// overlap and hold the same number of elements; equal types are copied. InternalError unless both types are floating
/// or equal.
void convert(std::span<const std::byte> from, DType from_dtype, std::span<std::byte> to, DType to_dtype);

}  // namespace titan::checkpoint
