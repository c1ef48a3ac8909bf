#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.hpp"
#include "core/checkpoint/safetensors.hpp"

namespace titan::checkpoint {

namespace {

/// A JSON string. DataError when the text is not UTF-8.
std::string quoted(const std::string& text) {
  if (invalid_utf8_at(text) != std::string_view::npos) {
    throw DataError("[checkpoint] a name or text of a tensor file is not UTF-8: ", printable(shortened(text, 200)));
  }
  return nlohmann::json(text).dump();
}

std::string entry_text(const SafetensorsEntry& entry) {
  std::string shape;
  for (const std::int64_t size : entry.tensor.shape) shape += concat(shape.empty() ? "" : ",", size);
  return concat(quoted(entry.tensor.name), ":{\"dtype\":\"", safetensors_name(entry.tensor.dtype), "\",\"shape\":[",
                shape, "],\"data_offsets\":[", entry.begin, ',', entry.end, "]}");
}

std::string metadata_text(const std::map<std::string, std::string>& metadata) {
  std::string members;
  for (const auto& [key, value] : metadata) {
    members += concat(members.empty() ? "" : ",", quoted(key), ':', quoted(value));
  }
  return concat('"', kSafetensorsMetadata, "\":{", members, '}');
}

}  // namespace

std::string write_safetensors_header(std::vector<SafetensorsEntry>& entries,
                                     const std::map<std::string, std::string>& metadata, std::uint64_t alignment) {
  std::uint64_t at = 0;
  std::set<std::string_view> names = {kSafetensorsMetadata};
  for (SafetensorsEntry& entry : entries) {
    TITAN_CHECK(names.insert(entry.tensor.name).second, "a name is there twice: ", printable(entry.tensor.name));
    entry.begin = at;
    at += static_cast<std::uint64_t>(num_elements(entry.tensor.shape)) * element_size(entry.tensor.dtype);
    entry.end = at;
  }
  std::string text(kSafetensorsPrefix, '\0');
  text += '{';
  if (!metadata.empty()) text += metadata_text(metadata);
  for (const SafetensorsEntry& entry : entries) text += concat(text.back() == '{' ? "" : ",", entry_text(entry));
  text += '}';
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  const std::uint64_t length = text.size() - kSafetensorsPrefix;
  for (std::size_t i = 0; i < kSafetensorsPrefix; ++i) text[i] = static_cast<char>(length >> 8U * i & 0xFFU);
  for (SafetensorsEntry& entry : entries) {
    entry.begin += text.size();
    entry.end += text.size();
  }
  return text;
}

}  // namespace titan::checkpoint
