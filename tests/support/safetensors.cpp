#include "tests/support/safetensors.hpp"

#include <ATen/ops/empty.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace titan::testing {
namespace {

constexpr std::uint64_t kMaxFile = std::uint64_t{256} << 20;
constexpr std::uint64_t kMaxHeader = std::uint64_t{4} << 20;

void require(bool condition, const std::filesystem::path& path, const std::string& what) {
  if (!condition) throw std::runtime_error(path.string() + ": " + what);
}

at::ScalarType scalar_type(const std::string& name, const std::filesystem::path& path) {
  static const std::map<std::string, at::ScalarType> known = {
      {"F64", at::kDouble}, {"F32", at::kFloat}, {"BF16", at::kBFloat16}, {"F16", at::kHalf},
      {"I64", at::kLong},   {"I32", at::kInt},   {"U8", at::kByte},       {"BOOL", at::kBool}};
  const auto found = known.find(name);
  require(found != known.end(), path, "unknown dtype " + name);
  return found->second;
}

std::string read_bounded(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  require(file.good(), path, "cannot be opened");
  require(std::filesystem::file_size(path) <= kMaxFile, path, "larger than a test file may be");
  return {std::istreambuf_iterator<char>(file), {}};
}

at::Tensor read_tensor(const nlohmann::json& entry, std::string_view data, const std::filesystem::path& path) {
  const auto type = scalar_type(entry.at("dtype").get<std::string>(), path);
  const auto shape = entry.at("shape").get<std::vector<std::int64_t>>();
  const auto offsets = entry.at("data_offsets").get<std::vector<std::uint64_t>>();
  require(offsets.size() == 2 && offsets[0] <= offsets[1] && offsets[1] <= data.size(), path, "offsets out of range");
  std::uint64_t bytes = c10::elementSize(type);
  for (const std::int64_t size : shape) {
    require(size >= 0 && (size == 0 || bytes <= kMaxFile / static_cast<std::uint64_t>(size)), path, "shape too large");
    bytes *= static_cast<std::uint64_t>(size);
  }
  require(bytes == offsets[1] - offsets[0], path, "shape and offsets disagree");
  at::Tensor tensor = at::empty(shape, type);
  if (bytes > 0) std::memcpy(tensor.mutable_data_ptr(), data.data() + offsets[0], bytes);
  return tensor;
}

}  // namespace

NamedTensors load_safetensors(const std::filesystem::path& path) {
  const std::string content = read_bounded(path);
  std::uint64_t header_size = 0;
  require(content.size() >= sizeof header_size, path, "shorter than a header");
  std::memcpy(&header_size, content.data(), sizeof header_size);
  require(header_size <= kMaxHeader && header_size <= content.size() - sizeof header_size, path, "header too long");
  const std::string_view rest = std::string_view(content).substr(sizeof header_size);
  NamedTensors tensors;
  try {
    const auto header = nlohmann::json::parse(rest.substr(0, header_size));
    for (const auto& [name, entry] : header.items()) {
      if (name != "__metadata__") tensors.emplace(name, read_tensor(entry, rest.substr(header_size), path));
    }
  } catch (const nlohmann::json::exception& error) {
    require(false, path, std::string("broken header: ") + error.what());
  }
  return tensors;
}

}  // namespace titan::testing
