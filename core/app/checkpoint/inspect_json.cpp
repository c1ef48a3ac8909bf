#include <nlohmann/json.hpp>

#include "core/app/checkpoint/inspect_report.hpp"
#include "core/app/checkpoint/tensor_facts.hpp"

namespace titan::app {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

Json manifest_json(const checkpoint::Manifest& manifest) {
  Json files = Json::array();
  for (const checkpoint::ManifestFile& file : manifest.files) {
    files.push_back({{"name", file.name}, {"size", file.size}, {"hash", file.hash}});
  }
  const checkpoint::Origin& origin = manifest.origin;
  return {{"step", manifest.step},
          {"save_id", manifest.save_id},
          {"contents", checkpoint::contents_name(manifest.contents)},
          {"world_size", origin.world_size},
          {"mesh", origin.mesh},
          {"module", origin.module},
          {"preset", origin.preset},
          {"config", origin.config},
          {"plugins", origin.plugins},
          {"files", files}};
}

Json tensors_json(const checkpoint::Source& source) {
  Json tensors = Json::array();
  for (const auto& [name, tensor] : source.tensors) {
    tensors.push_back({{"name", name},
                       {"dtype", checkpoint::torch_name(tensor.dtype)},
                       {"shape", tensor.shape},
                       {"size", bytes_of(tensor)},
                       {"num_parts", tensor.parts.size()}});
  }
  return tensors;
}

}  // namespace

std::string inspect_json(const checkpoint::Source& source, bool with_tensors) {
  Json json{{"path", source.folder.native()}, {"format", format_name(source.format)}};
  if (source.manifest) json["manifest"] = manifest_json(*source.manifest);
  if (source.train_state) {
    json["train_state"] = {{"step", source.train_state->step},
                           {"num_tokens", source.train_state->num_tokens},
                           {"schedule_step", source.train_state->schedule_step},
                           {"has_dataloader", source.train_state->dataloader.has_value()}};
  }
  json["size"] = bytes_of_files(source);
  json["num_files"] = source.files.size();
  json["num_tensors"] = source.tensors.size();
  if (with_tensors) json["tensors"] = tensors_json(source);
  return dumped(json);
}

std::string inspect_json(const Located& located) {
  Json steps = Json::array();
  for (const LocatedStep& step : located.steps) {
    Json json{{"step", step.step}, {"path", step.folder.native()}, {"is_committed", step.problem.empty()}};
    if (step.format) json["format"] = format_name(*step.format);
    if (!step.problem.empty()) json["problem"] = step.problem;
    if (step.manifest) {
      json["contents"] = checkpoint::contents_name(step.manifest->contents);
      json["size"] = bytes_of_step(*step.manifest);
    }
    steps.push_back(json);
  }
  Json json{{"path", located.folder.native()}, {"steps", steps}};
  if (const LocatedStep* newest = located.newest()) json["newest"] = newest->step;
  return dumped(json);
}

}  // namespace titan::app
