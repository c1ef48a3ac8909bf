#include "core/plugin/manifest.hpp"

#include <nlohmann/json.hpp>
#include <variant>

#include "core/base/hashing.hpp"
#include "core/plugin/manifest_form.hpp"
#include "titan/abi/plugin.h"

namespace titan::plugin {
namespace {

using Json = nlohmann::ordered_json;

Json value_to_json(const config::Value& value) {
  return std::visit(
      [](const auto& held) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) {
          return nullptr;
        } else {
          return held;
        }
      },
      value);
}

Json number_to_json(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

Json option_to_json(const config::Option& option) {
  return {{"name", option.name},
          {"type", kTypeNames.at(static_cast<std::size_t>(option.type))},
          {"default", value_to_json(option.default_value)},
          {"help", option.help},
          {"metavar", option.metavar},
          {"choices", option.choices},
          {"min", number_to_json(option.min)},
          {"max", number_to_json(option.max)},
          {"min_exclusive", option.min_exclusive},
          {"nullable", option.nullable},
          {"must_match", option.must_match},
          {"hidden", option.hidden}};
}

Json preset_to_json(const config::Preset& preset) {
  Json settings = Json::array();
  for (const auto& setting : preset.settings) settings.push_back({{"name", setting.name}, {"value", setting.value}});
  return {{"name", preset.name}, {"summary", preset.summary}, {"base", preset.base}, {"settings", settings}};
}

Json torch_to_json(const Facts& facts) {
  if (facts.abi.tier != TITAN_TIER_TORCH) return nullptr;
  return {
      {"version", facts.torch.version}, {"cxx11_abi", facts.torch.cxx11_abi}, {"cuda_major", facts.torch.cuda_major}};
}

}  // namespace

Json facts_to_json(const Facts& facts) {
  Json out = {{"id", facts.id}, {"name", facts.name}, {"version", facts.version}, {"license", facts.license}};
  out["abi"] = {{"major", facts.abi.major}, {"minor", facts.abi.minor}, {"minor_needed", facts.abi.minor_needed}};
  out["tier"] = facts.abi.tier == TITAN_TIER_TORCH ? kTorchTier : kStableTier;
  out["torch"] = torch_to_json(facts);
  out["provides"] = facts.provides;
  out["options"] = Json::array();
  for (const auto& option : facts.options) out["options"].push_back(option_to_json(option));
  out["presets"] = Json::array();
  for (const auto& preset : facts.presets) out["presets"].push_back(preset_to_json(preset));
  return out;
}

std::string write_manifest(const Facts& facts, const std::filesystem::path& library) {
  Json out = {{"manifest_version", kManifestVersion}};
  out["library"] = {{"file", library.filename().string()},
                    {"size", std::filesystem::file_size(library)},
                    {"hash128", hash128_file(library)}};
  out.update(facts_to_json(facts));
  return out.dump(1) + "\n";
}

}  // namespace titan::plugin
