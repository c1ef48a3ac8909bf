#include "core/checkpoint/index.hpp"

#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/json_pieces.hpp"
#include "core/checkpoint/index_check.hpp"
#include "core/checkpoint/json_document.hpp"

namespace titan::checkpoint {

namespace {

constexpr const char* kFormat = "titan.checkpoint.index";

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

std::string text_of(const StoredFile& file) {
  return nlohmann::ordered_json{{"name", file.path.string()},
                                {"size", file.size},
                                {"block_size", file.block_size},
                                {"block_hashes", file.block_hashes}}
      .dump();
}

std::string text_of(const StoredTensor& tensor) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const StoredPart& part : tensor.parts) {
    parts.push_back({{"file", part.file}, {"begin", part.begin}, {"offset", part.box.offset}, {"size", part.box.size}});
  }
  return nlohmann::ordered_json{
      {"dtype", safetensors_name(tensor.dtype)}, {"shape", tensor.shape}, {"parts", std::move(parts)}}
      .dump();
}

/// Takes an index apart while it is parsed.
class IndexReader {
 public:
  explicit IndexReader(const std::string& source) : source_(source) {}

  bool operator()(std::span<const std::string> path, const nlohmann::json& value) {
    if (!value.is_object() || path.empty()) return false;
    if (path.size() == 1 && path[0] == "files") return take_file(field_of(path, value));
    if (path[0] != "tensors") return false;
    if (path.size() == 2) return take_tensor(path[1], field_of(path, value));
    return path.size() == 3 && path[2] == "parts" && take_part(field_of(path, value));
  }

  Index take(const nlohmann::json& rest) && {
    const JsonField root(rest, "checkpoint", source_);
    require_document(root, kFormat);
    require_no_others(root, {"format", "version", "files", "tensors"});
    if (!root.at("files").items().empty()) root.at("files").fail("expected objects");
    if (!root.at("tensors").members().empty()) root.at("tensors").fail("expected objects");
    return std::move(index_);
  }

 private:
  JsonField field_of(std::span<const std::string> path, const nlohmann::json& value) const {
    return {value, "checkpoint", concat(source_, ": ", join({path.begin(), path.end()}, "."))};
  }

  bool take_file(const JsonField& field) {
    require_no_others(field, {"name", "size", "block_size", "block_hashes"});
    StoredFile file{read_file_name(field.at("name")), read_bytes(field.at("size")), 0, {}};
    file.block_size = read_bytes(field.at("block_size"));
    for (const JsonField& hash : field.at("block_hashes").items()) file.block_hashes.push_back(read_hexadecimal(hash));
    index_.files.push_back(std::move(file));
    return true;
  }

  bool take_part(const JsonField& field) {
    require_no_others(field, {"file", "begin", "offset", "size"});
    constexpr std::int64_t kMostFiles = 1'000'000;
    parts_.push_back({{read_sizes(field.at("offset")), read_sizes(field.at("size"))},
                      static_cast<std::uint32_t>(field.at("file").integer(0, kMostFiles)),
                      read_bytes(field.at("begin"))});
    return true;
  }

  bool take_tensor(const std::string& name, const JsonField& field) {
    require_no_others(field, {"dtype", "shape", "parts"});
    const JsonField dtype = field.at("dtype");
    const std::optional<DType> known = dtype_of_safetensors(dtype.text());
    if (!known) dtype.fail("unknown dtype: ", printable(shortened(dtype.text(), 32)));
    if (!field.at("parts").items().empty()) field.at("parts").fail("expected objects");
    StoredTensor tensor{*known, read_sizes(field.at("shape")), std::exchange(parts_, {})};
    index_.tensors.emplace(name, std::move(tensor));
    return true;
  }

  const std::string& source_;
  Index index_;
  std::vector<StoredPart> parts_;  // of the tensor that is being read
};

}  // namespace

std::string write_index(const Index& index) {
  std::string text = concat("{\"format\": \"", kFormat, "\", \"version\": ", kDocumentVersion, ",\n\"files\": [");
  const char* separator = "\n";
  for (const StoredFile& file : index.files) {
    text += concat(separator, text_of(file));
    separator = ",\n";
  }
  text += "],\n\"tensors\": {";
  separator = "\n";
  for (const auto& [name, tensor] : index.tensors) {
    text += concat(separator, quoted(name), ": ", text_of(tensor));
    separator = ",\n";
  }
  return text + "}}\n";
}

Index read_index(std::string_view text, const std::string& source) {
  IndexReader reader(source);
  const nlohmann::json rest =
      parse_json_in_pieces(text, source, std::ref(reader), {.bytes = kMostIndexBytes, .depth = 8});
  Index index = std::move(reader).take(rest);
  check_index(index, source);
  return index;
}

}  // namespace titan::checkpoint
