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
constexpr std::size_t kHashDigits = 32;
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

/// The hash of a manifest: of its text, in which zeros stand for the hash itself.
std::string own_hash(std::string text, std::size_t at, std::size_t size) {
  text.replace(at, size, size, '0');
  return hash128(text);
}

void check_own_hash(std::string_view text, const JsonField& root) {
  const JsonField field = root.at("hash");
  const std::string& hash = read_hexadecimal(field);
  // Its last place: a flip of the file's list cannot make another of it.
  const std::size_t at = text.rfind(hash);
  const bool is_right = at != std::string_view::npos && own_hash(std::string(text), at, hash.size()) == hash;
  if (!is_right) field.fail("not that of the manifest: it was damaged or edited");
}

}  // namespace

std::string_view contents_name(Contents contents) {
  return std::ranges::find(kContents, contents, &std::pair<Contents, const char*>::first)->second;
}

std::string write_manifest(const Manifest& manifest) {
  const std::string nothing(kHashDigits, '0');
  std::string text = dumped(nlohmann::ordered_json{{"format", kFormat},
                                                   {"version", kDocumentVersion},
                                                   {"step", manifest.step},
                                                   {"save_id", manifest.save_id},
                                                   {"contents", contents_name(manifest.contents)},
                                                   {"origin", json_of(manifest.origin)},
                                                   {"files", json_of(manifest.files)},
                                                   {"hash", nothing}},
                            2) +
                     '\n';
  const std::size_t at = text.rfind(nothing);
  text.replace(at, kHashDigits, own_hash(text, at, kHashDigits));
  return text;
}

Manifest read_manifest(std::string_view text, const std::string& source) {
  const JsonPieceLimits limits{.bytes = kMostManifestBytes, .depth = 16, .kept = std::size_t{1} << 19U};
  const nlohmann::json json = parse_strict_json(text, source, limits);
  const JsonField root(json, "checkpoint", source);
  require_document(root, kFormat);
  require_no_others(root, {"format", "version", "step", "save_id", "contents", "origin", "files", "hash"});
  Manifest manifest{.step = root.at("step").integer(0, kLargestStep),
                    .save_id = read_hexadecimal(root.at("save_id")),
                    .contents = read_contents(root.at("contents")),
                    .origin = read_origin(root.at("origin")),
                    .files = read_files(root.at("files"))};
  check_own_hash(text, root);  // last: what can be named by itself is
  return manifest;
}

Manifest read_manifest(const std::filesystem::path& path) {
  return read_manifest(open_patiently(path).read_all(kMostManifestBytes), path.string());
}

std::string config_fingerprint(const Origin& origin) {
  return hash128(dumped(nlohmann::json{{"module", origin.module}, {"config", origin.config}}, -1));
}

}  // namespace titan::checkpoint
