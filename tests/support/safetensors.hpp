#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>

namespace titan::testing {

using NamedTensors = std::map<std::string, at::Tensor>;

/// Reads a safetensors file into CPU tensors by name. Throws std::runtime_error, naming the file, when a length,
/// offset, shape or dtype does not hold.
NamedTensors load_safetensors(const std::filesystem::path& path);

}  // namespace titan::testing
