#include "core/checkpoint/manifest.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/base/hashing.hpp"
#include "core/base/json_pieces.hpp"
#include "core/checkpoint/input_file.hpp"
#include "core/checkpoint/json_document.hpp"

namespace titan::checkpoint {

namespace {

constexpr const char* kFormat = "titan.checkpoint";
constexpr std::int64_t kLargestStep = 999'999'999'999'999'999;
constexpr std::int64_t kMostRanks = 1'000'000;
constexpr std::pair<Contents, const char*> kContents[] = {{Contents::full, "full"},
                                                          {Contents::model_only, "model_only"}};

// Bytes that are no UTF-8 (of a path, say) become U+FFFD: JSON has no other way.
template <class Json>
std::string dumped(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

nlohmann::ordered_json json_of(const Origin& origin) {
  return {{"world_size", origin.world_size}, {"mesh", origin.mesh},
          {"module", origin.module},         {"preset", origin.preset},
          {"plugins", origin.plugins},       {"config_fingerprint", config_fingerprint(origin)},
          {"config", origin.config}};
}

nlohmann::ordered_json json_of(const std::vector<ManifestFile>& files) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ManifestFile& file : files) {
    list.push_back({{"name", file.name}, {"size", file.size}, {"hash", file.hash}});
  }
  return list;
}

Contents read_contents(const JsonField& field) {
  for (const auto& [contents, name] : kContents) {
    if (field.text() == name) return contents;
  }
  field.fail("expected \"full\" or \"model_only\", found \"", printable(shortened(field.text(), 64)), '"');
}

/// Where the step came from: the one place where unknown members are let be, because no reader needs them.
Origin read_origin(const JsonField& field) {
  Origin origin;
  origin.world_size = field.at("world_size").integer(1, kMostRanks);
  origin.mesh = field.at("mesh").text();
  origin.module = field.at("module").text();
  origin.preset = field.at("preset").text();
  for (const JsonField& plugin : field.at("plugins").items()) origin.plugins.push_back(plugin.text());
  for (const auto& [name, value] : field.at("config").members()) origin.config.emplace(name, value.text());
  const JsonField fingerprint = field.at("config_fingerprint");
  if (read_hexadecimal(fingerprint) != config_fingerprint(origin)) fingerprint.fail("not that of module and config");
  return origin;
}

std::vector<ManifestFile> read_files(const JsonField& field) {
  std::vector<ManifestFile> files;
  std::set<std::string_view> names;
  for (const JsonField& item : field.items()) {
    require_no_others(item, {"name", "size", "hash"});
    const std::string& name = read_file_name(item.at("name"));
    if (name == kManifestFile) item.fail("the manifest lists itself");
    if (!names.insert(name).second) item.fail("a file is there twice: ", printable(name));
    files.push_back({name, read_bytes(item.at("size")), read_hexadecimal(item.at("hash"))});
  }
  return files;
}

}  // namespace

std::string write_manifest(const Manifest& manifest) {
  const auto* contents = std::find_if(std::begin(kContents), std::end(kContents),
                                      [&](const auto& each) { return each.first == manifest.contents; });
  return dumped(nlohmann::ordered_json{{"format", kFormat},
                                       {"version", kDocumentVersion},
                                       {"step", manifest.step},
                                       {"save_id", manifest.save_id},
                                       {"contents", contents->second},
                                       {"origin", json_of(manifest.origin)},
                                       {"files", json_of(manifest.files)}},
                2) +
         '\n';
}

Manifest read_manifest(std::string_view text, const std::string& source) {
  const JsonPieceLimits limits{.bytes = kMostManifestBytes, .depth = 16, .kept = std::size_t{1} << 19U};
  const nlohmann::json json = parse_strict_json(text, source, limits);
  const JsonField root(json, "checkpoint", source);
  require_document(root, kFormat);
  require_no_others(root, {"format", "version", "step", "save_id", "contents", "origin", "files"});
  return {.step = root.at("step").integer(0, kLargestStep),
          .save_id = read_hexadecimal(root.at("save_id")),
          .contents = read_contents(root.at("contents")),
          .origin = read_origin(root.at("origin")),
          .files = read_files(root.at("files"))};
}

Manifest read_manifest(const std::filesystem::path& path) {
  return read_manifest(open_patiently(path).read_all(kMostManifestBytes), path.string());
}

std::string config_fingerprint(const Origin& origin) {
  return hash128(dumped(nlohmann::json{{"module", origin.module}, {"config", origin.config}}, -1));
}

}  // namespace titan::checkpoint
