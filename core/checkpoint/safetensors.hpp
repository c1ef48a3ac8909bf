#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/parts.hpp"

namespace titan::checkpoint {

/// One tensor of a safetensors file: its bytes lie at begin .. end of the file.
struct SafetensorsEntry {
  TensorInfo tensor;
  std::uint64_t begin = 0, end = 0;
};

/// The header of a safetensors file (https://github.com/huggingface/safetensors, "Format").
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // by increasing begin
  std::map<std::string, std::string> metadata;
  std::uint64_t file_size = 0;
};

/// The name in a header that is no tensor's, but that of texts.
inline constexpr const char* kSafetensorsMetadata = "__metadata__";
/// The bytes before the JSON text: its length, little-endian.
inline constexpr std::uint64_t kSafetensorsPrefix = 8;
/// The longest header that is read, the same as the reference reader's.
inline constexpr std::uint64_t kMostHeaderBytes = 100'000'000;

/// Length of the header, prefix included, from the file's first 8 bytes. DataError names `source`: longer than the file
/// or than kMostHeaderBytes.
std::uint64_t safetensors_header_size(std::span<const std::byte> prefix, std::uint64_t file_size,
                                      const std::string& source);
/// Reads the JSON text of a header of `header_size` bytes with the prefix. Strict, as the format says: known types,
/// bytes that fit dtype and shape, no name twice, no gap, no overlap, nothing left over. DataError names `source` and
/// the tensor.
SafetensorsHeader read_safetensors_header(std::string_view json, std::uint64_t header_size, std::uint64_t file_size,
                                          const std::string& source);
/// Reads the header of a file that must be a regular one and no link.
SafetensorsHeader read_safetensors_header(const std::filesystem::path& path);

/// Lays the tensors out in the given order and returns prefix and JSON text, padded with spaces to a multiple of
/// `alignment`; the entries' begin and end are filled in. DataError: a name or text that is not UTF-8; InternalError: a
/// name that is there twice.
std::string write_safetensors_header(std::vector<SafetensorsEntry>& entries,
                                     const std::map<std::string, std::string>& metadata, std::uint64_t alignment);

}  // namespace titan::checkpoint
