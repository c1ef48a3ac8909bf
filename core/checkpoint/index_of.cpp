#include "core/checkpoint/index_of.hpp"

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/json_pieces.hpp"
#include "core/checkpoint/file_name.hpp"
#include "core/checkpoint/index_check.hpp"
#include "core/checkpoint/json_document.hpp"

namespace titan::checkpoint {

namespace {

/// Where the tensors of a shard lie in those they are parts of.
struct Place {
  std::vector<std::int64_t> shape, offset;
};

std::map<std::string, Place> read_places(const std::string& text, const std::string& source) {
  const std::string where = concat(source, ": parts");
  std::map<std::string, Place> places;
  const nlohmann::json rest =
      parse_json_in_pieces(text, where,
                           [&](std::span<const std::string> path, const nlohmann::json& value) {
                             if (path.size() != 1 || !value.is_object()) return false;
                             const JsonField field(value, "checkpoint", concat(where, ": ", path[0]));
                             require_no_others(field, {"shape", "offset"});
                             places[path[0]] = {read_sizes(field.at("shape")), read_sizes(field.at("offset"))};
                             return true;
                           },
                           {.bytes = kMostHeaderBytes, .depth = 4});
  const JsonField root(rest, "checkpoint", where);
  if (!root.members().empty()) root.fail("expected objects");
  return places;
}

const std::string& metadata_of(const SafetensorsHeader& header, const std::string& key, const std::string& source) {
  const auto found = header.metadata.find(key);
  if (found == header.metadata.end()) {
    throw DataError("[checkpoint] ", printable(source), ": not a shard of a step: no \"", key, "\" in its metadata");
  }
  return found->second;
}

void check_shard(const SafetensorsHeader& header, const ShardReport& report, std::string_view save_id,
                 const std::string& source) {
  const std::string& format = metadata_of(header, "format", source);
  if (format != "titan") {
    throw DataError("[checkpoint] ", printable(source), ": not a shard of a step: of format ",
                    printable(shortened(format, 64)));
  }
  const std::string& id = metadata_of(header, "save_id", source);
  if (id != save_id) {
    throw DataError("[checkpoint] ", printable(source), ": belongs to another save: ", printable(shortened(id, 64)),
                    ", expected ", printable(save_id));
  }
  if (header.file_size != report.size) {
    throw DataError("[checkpoint] ", printable(source), ": of another size: ", header.file_size, " bytes, expected ",
                    report.size);
  }
}

/// Adds one rank's part of a tensor to the index.
void add_part(Index& index, const SafetensorsEntry& entry, const Place& place, const std::string& source) {
  const auto fail = [&](const auto&... why) {
    throw DataError("[checkpoint] ", printable(source), ": ", printable(shortened(entry.tensor.name, 200)), ": ",
                    why...);
  };
  if (place.shape.size() != entry.tensor.shape.size() || place.offset.size() != place.shape.size()) {
    fail("its part has another number of dims");
  }
  const auto [found, is_new] =
      index.tensors.try_emplace(entry.tensor.name, StoredTensor{entry.tensor.dtype, place.shape, {}});
  StoredTensor& tensor = found->second;
  if (!is_new && (tensor.dtype != entry.tensor.dtype || tensor.shape != place.shape)) {
    fail("shards disagree about its dtype or shape");
  }
  if (num_elements(entry.tensor.shape) == 0) return;
  const std::uint32_t file = static_cast<std::uint32_t>(index.files.size() - 1);
  tensor.parts.push_back({{place.offset, entry.tensor.shape}, file, entry.begin});
}

}  // namespace

void add_shard(Index& index, const SafetensorsHeader& header, const ShardReport& report, std::string_view save_id,
               const std::string& source) {
  check_shard(header, report, save_id, source);
  const std::map<std::string, Place> places = read_places(metadata_of(header, "parts", source), source);
  index.files.push_back({report.name, report.size, report.block_size, report.block_hashes});
  for (const SafetensorsEntry& entry : header.entries) {
    const auto place = places.find(entry.tensor.name);
    if (place == places.end()) {
      throw DataError("[checkpoint] ", printable(source), ": ", printable(shortened(entry.tensor.name, 200)),
                      ": its metadata does not say of which part");
    }
    add_part(index, entry, place->second, source);
  }
  if (places.size() != header.entries.size()) {
    throw DataError("[checkpoint] ", printable(source), ": its metadata names tensors that it does not hold");
  }
}

Index index_of(const std::filesystem::path& folder, std::span<const ShardReport> shards, std::string_view save_id) {
  Index index;
  for (const ShardReport& report : shards) {
    if (!is_file_name(report.name)) {
      throw DataError("[checkpoint] not the name of a shard: ", printable(shortened(report.name, 300)));
    }
    const std::filesystem::path path = folder / report.name;
    add_shard(index, read_safetensors_header(path), report, save_id, path.string());
  }
  check_index(index, folder.string());
  return index;
}

}  // namespace titan::checkpoint
