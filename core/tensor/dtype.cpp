#include "core/tensor/dtype.hpp"

#include <array>
#include <utility>

#include "titan/abi/tensor.h"

namespace titan::tensor {
namespace {

constexpr std::array<std::pair<std::int32_t, at::ScalarType>, 8> kTypes = {{{TITAN_FLOAT64, at::kDouble},
                                                                            {TITAN_FLOAT32, at::kFloat},
                                                                            {TITAN_BFLOAT16, at::kBFloat16},
                                                                            {TITAN_FLOAT16, at::kHalf},
                                                                            {TITAN_INT64, at::kLong},
                                                                            {TITAN_INT32, at::kInt},
                                                                            {TITAN_UINT8, at::kByte},
                                                                            {TITAN_BOOL8, at::kBool}}};
constexpr std::array<std::pair<std::int32_t, at::DeviceType>, 3> kDevices = {
    {{TITAN_DEVICE_CPU, at::kCPU}, {TITAN_DEVICE_CUDA, at::kCUDA}, {TITAN_DEVICE_META, at::kMeta}}};

}  // namespace

std::int32_t abi_dtype(at::ScalarType type) {
  for (const auto& [number, known] : kTypes) {
    if (known == type) return number;
  }
  return 0;
}

std::int32_t abi_device(at::Device device) {
  for (const auto& [number, known] : kDevices) {
    if (known == device.type()) return number;
  }
  return 0;
}

std::optional<at::ScalarType> scalar_type(std::int64_t abi_dtype) {
  for (const auto& [number, known] : kTypes) {
    if (number == abi_dtype) return known;
  }
  return std::nullopt;
}

std::optional<at::Device> device(std::int64_t abi_device) {
  for (const auto& [number, known] : kDevices) {
    if (number == abi_device) return at::Device(known);
  }
  return std::nullopt;
}

}  // namespace titan::tensor
