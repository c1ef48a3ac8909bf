#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>

namespace titan::tensor {

/// The ABI's number of an element type or device, or 0 when it has none.
std::int32_t abi_dtype(at::ScalarType type);
std::int32_t abi_device(at::Device device);

/// The element type or device of an ABI number, or nothing when the number is unknown.
std::optional<at::ScalarType> scalar_type(std::int64_t abi_dtype);
std::optional<at::Device> device(std::int64_t abi_device);

}  // namespace titan::tensor
