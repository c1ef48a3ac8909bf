#include "core/plugin/manifest.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/files.hpp"
#include "core/base/hashing.hpp"
#include "core/base/json.hpp"
#include "core/base/text.hpp"
#include "core/plugin/load_problem.hpp"
#include "core/plugin/manifest_form.hpp"
#include "titan/abi/plugin.h"

namespace titan::plugin {
namespace {

using Json = nlohmann::json;

constexpr JsonLimits kLimits{std::size_t{4} << 20U, 16};
constexpr const char* kRemedy = "build the plugin again, or remove the manifest and name the library with --plugin";

template <class... Parts>
[[noreturn]] void broken(const Parts&... reason) {
  throw LoadProblem(Exit::abi, concat("its manifest is broken: ", reason...), kRemedy);
}

const Json& field(const Json& object, const char* name) {
  if (!object.is_object()) broken("an object is expected around field ", name);
  const auto found = object.find(name);
  if (found == object.end()) broken("missing field ", name);
  return *found;
}

std::string text_field(const Json& object, const char* name) {
  const Json& value = field(object, name);
  if (!value.is_string()) broken("not a string: field ", name);
  return value.get<std::string>();
}

bool flag_field(const Json& object, const char* name) {
  const Json& value = field(object, name);
  if (!value.is_boolean()) broken("not true or false: field ", name);
  return value.get<bool>();
}

template <class Integer>
Integer integer_field(const Json& object, const char* name) {
  const Json& value = field(object, name);
  if (!value.is_number_integer()) broken("not an integer: field ", name);
  if (value.is_number_unsigned() && std::in_range<Integer>(value.get<std::uint64_t>())) return value.get<Integer>();
  if (!value.is_number_unsigned() && std::in_range<Integer>(value.get<std::int64_t>())) return value.get<Integer>();
  broken("out of range: field ", name);
}

std::optional<double> bound_field(const Json& object, const char* name) {
  const Json& value = field(object, name);
  if (value.is_null()) return std::nullopt;
  if (!value.is_number()) broken("not a number: field ", name);
  return value.get<double>();
}

const Json& list_field(const Json& object, const char* name) {
  const Json& value = field(object, name);
  if (!value.is_array()) broken("not a list: field ", name);
  return value;
}

std::vector<std::string> texts_of(const Json& list, const char* name) {
  std::vector<std::string> out;
  for (const auto& item : list) {
    if (!item.is_string()) broken("not a list of strings: field ", name);
    out.push_back(item.get<std::string>());
  }
  return out;
}

config::Type type_field(const Json& object) {
  const std::string name = text_field(object, "type");
  const auto found = std::find(kTypeNames.begin(), kTypeNames.end(), name);
  if (found == kTypeNames.end()) broken("unknown option type: ", name);
  return static_cast<config::Type>(found - kTypeNames.begin());
}

config::Value default_field(const Json& object, config::Type type) {
  const Json& value = field(object, "default");
  if (value.is_null()) return {};
  switch (type) {
    case config::Type::boolean:
      return flag_field(object, "default");
    case config::Type::integer:
      return integer_field<std::int64_t>(object, "default");
    case config::Type::floating:
      return bound_field(object, "default").value();
    case config::Type::strings:
      return texts_of(list_field(object, "default"), "default");
    default:
      return text_field(object, "default");
  }
}

config::Option read_option(const Json& in, const std::string& owner) {
  config::Option out;
  out.name = text_field(in, "name");
  out.type = type_field(in);
  out.default_value = default_field(in, out.type);
  out.help = text_field(in, "help");
  out.metavar = text_field(in, "metavar");
  out.choices = texts_of(list_field(in, "choices"), "choices");
  out.min = bound_field(in, "min");
  out.max = bound_field(in, "max");
  out.min_exclusive = flag_field(in, "min_exclusive");
  out.nullable = flag_field(in, "nullable");
  out.must_match = flag_field(in, "must_match");
  out.hidden = flag_field(in, "hidden");
  out.owner = owner;
  return out;
}

config::Preset read_preset(const Json& in, const std::string& owner) {
  config::Preset out;
  out.name = text_field(in, "name");
  out.summary = text_field(in, "summary");
  out.base = text_field(in, "base");
  for (const auto& setting : list_field(in, "settings")) {
    out.settings.push_back({text_field(setting, "name"), text_field(setting, "value")});
  }
  out.owner = owner;
  return out;
}

void read_abi(const Json& in, Facts& out) {
  const Json& abi = field(in, "abi");
  out.abi.major = integer_field<std::uint32_t>(abi, "major");
  out.abi.minor = integer_field<std::uint32_t>(abi, "minor");
  out.abi.minor_needed = integer_field<std::uint32_t>(abi, "minor_needed");
  const std::string tier = text_field(in, "tier");
  if (tier != kStableTier && tier != kTorchTier) broken("unknown tier: ", tier);
  out.abi.tier = tier == kTorchTier ? TITAN_TIER_TORCH : TITAN_TIER_STABLE;
  if (out.abi.tier != TITAN_TIER_TORCH) return;
  const Json& torch = field(in, "torch");
  out.torch = {text_field(torch, "version"), integer_field<std::int32_t>(torch, "cxx11_abi"),
               integer_field<std::int32_t>(torch, "cuda_major")};
}

Facts read_facts(const Json& in) {
  Facts out;
  out.id = text_field(in, "id");
  out.name = text_field(in, "name");
  out.version = text_field(in, "version");
  out.license = text_field(in, "license");
  read_abi(in, out);
  out.provides = texts_of(list_field(in, "provides"), "provides");
  for (const auto& option : list_field(in, "options")) out.options.push_back(read_option(option, out.name));
  for (const auto& preset : list_field(in, "presets")) out.presets.push_back(read_preset(preset, out.name));
  return out;
}

// A manifest never leads out of its own folder.
std::string library_name(const Json& library) {
  const std::string name = text_field(library, "file");
  const bool plain =
      !name.empty() && name != "." && name != ".." && name.find_first_of(std::string_view("/\0", 2)) == name.npos;
  if (!plain) broken("the library is not a plain file name: ", name);
  return name;
}

Manifest read(const std::string& text, const std::filesystem::path& file) {
  const Json in = parse_json(text, file.filename().string(), kLimits);
  const auto version = integer_field<std::int64_t>(in, "manifest_version");
  if (version != kManifestVersion) {
    throw LoadProblem(Exit::abi, concat("its manifest has version ", version, ", this titan reads ", kManifestVersion),
                      "build the plugin again with this titan's SDK");
  }
  const Json& library = field(in, "library");
  Manifest out;
  out.library_file = library_name(library);
  out.library_size = integer_field<std::uint64_t>(library, "size");
  out.library_hash = text_field(library, "hash128");
  out.facts = read_facts(in);
  return out;
}

}  // namespace

Manifest read_manifest(const std::filesystem::path& file) {
  Manifest out;
  try {
    out = read(read_file(file, kLimits.bytes), file);
  } catch (const InputError& error) {
    throw LoadProblem(Exit::no_input, concat("its manifest cannot be read: ", error.what()), "check its permissions");
  } catch (const Error& error) {
    broken(error.what());
  }
  try {
    check_facts(out.facts);
  } catch (const LoadProblem& problem) {
    broken(problem.what());
  }
  return out;
}

bool describes(const Manifest& manifest, const std::filesystem::path& library) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(library, error);
  if (error || size != manifest.library_size) return false;
  try {
    return hash128_file(library) == manifest.library_hash;
  } catch (const InputError&) {
    return false;  // opening it will say why
  }
}

std::filesystem::path manifest_path(const std::filesystem::path& library) {
  std::filesystem::path name = library.stem();
  name += kManifestEnding;
  return library.parent_path() / name;
}

}  // namespace titan::plugin
