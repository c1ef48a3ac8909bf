#include "core/train/checkpoint/origin.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/base/text.hpp"
#include "core/checkpoint/saved_config.hpp"

namespace titan::train {
namespace {

const std::string kTotalSteps = "lr_scheduler.total_steps";

bool decides_training(std::string_view option, bool steps_end_schedule) {
  constexpr std::array<std::string_view, 5> kSections = {"model.", "training.", "optimizer.", "lr_scheduler.",
                                                         "dataloader."};
  if (option == "training.steps") return steps_end_schedule;
  return option == "hf_assets_path" || option == "debug.seed" ||
         std::ranges::any_of(kSections, [&](std::string_view section) { return option.starts_with(section); });
}

}  // namespace

checkpoint::Origin origin_of(const EngineRun& run, const config::Mesh& mesh) {
  checkpoint::Origin origin;
  origin.world_size = mesh.world_size();
  origin.mesh = mesh.describe();
  origin.module = run.config->module();
  origin.preset = run.config->config_name();
  origin.config = checkpoint::saved_config(*run.config);
  origin.plugins = run.plugin_digests;
  return origin;
}

std::vector<std::string> differences(const std::map<std::string, std::string>& saved,
                                     const std::map<std::string, std::string>& here) {
  const auto total = here.find(kTotalSteps);
  const bool steps_end_schedule = total == here.end() || total->second == "None";
  std::vector<std::string> found;
  for (const auto& [name, value] : here) {
    if (!decides_training(name, steps_end_schedule)) continue;
    const auto other = saved.find(name);
    if (other == saved.end() || other->second == value) continue;
    found.push_back(concat(name, ' ', other->second, " -> ", value));
  }
  return found;
}

}  // namespace titan::train
