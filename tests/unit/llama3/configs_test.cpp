#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/plugin_call.hpp"
#include "core/config/resolver.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/run_options.hpp"

// The presets and whole-run files of the model plugin MODEL_NAME, resolved with the real registry and read as a run
// reads them.
namespace titan {
namespace {

plugin::PluginRegistry find_plugins() {
  plugin::Search search;
  search.files = {MODEL_PLUGIN, OBSERVABILITY_PLUGIN, PARALLEL_PLUGIN};
  return plugin::PluginRegistry(search);
}

config::Registry declare(const plugin::PluginRegistry& plugins) {
  config::Registry registry;
  config::add_core_options(registry);
  plugins.register_options(registry);
  return registry;
}

std::vector<std::string> files() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(MODEL_CONFIGS))
    if (entry.path().extension() == ".toml") found.push_back(entry.path().string());
  std::ranges::sort(found);
  return found;
}

std::vector<std::string> preset_names() {
  static const plugin::PluginRegistry plugins = find_plugins();
  static const config::Registry registry = declare(plugins);
  std::vector<std::string> names;
  for (const config::Preset* preset : registry.presets(MODEL_NAME)) names.push_back(preset->name);
  return names;
}

class ModelConfigs : public ::testing::TestWithParam<std::string> {};

/// Resolves a preset or file, and asks the run's options and the model for what they make of it.
void expect_runnable(const std::string& module, const std::string& config_name) {
  const plugin::PluginRegistry plugins = find_plugins();
  const config::Registry registry = declare(plugins);
  const config::Config config = config::resolve_settings(registry, {}, module, config_name);
  EXPECT_EQ(config.module(), MODEL_NAME);
  const train::RunOptions run = train::read_run_options(config);
  EXPECT_GE(run.sizes.rows, 1);
  EXPECT_GE(run.sizes.num_micro_batches, 1);

  const auto instance = plugins.load(plugins.find_model(MODEL_NAME), {&config, nullptr, 0, 1});
  const auto model = instance->interface<titan_model_v1>(TITAN_MODEL_V1);
  titan_model_facts facts{};
  facts.struct_size = sizeof facts;
  plugin_call(instance->host(), MODEL_NAME, "facts",
              [&] { return model.table->facts(model.ctx, run.sizes.length, &facts); });
  EXPECT_GT(facts.num_parameters, 0);
  EXPECT_GT(facts.num_flops_per_token, 0);
}

TEST_P(ModelConfigs, IsAWholeRun) { expect_runnable("", GetParam()); }

INSTANTIATE_TEST_SUITE_P(Files, ModelConfigs, ::testing::ValuesIn(files()),
                         [](const auto& param) { return std::filesystem::path(param.param).stem().string(); });

class ModelPresets : public ::testing::TestWithParam<std::string> {};

TEST_P(ModelPresets, IsAWholeRun) { expect_runnable(MODEL_NAME, GetParam()); }

INSTANTIATE_TEST_SUITE_P(Presets, ModelPresets, ::testing::ValuesIn(preset_names()), [](const auto& param) {
  std::string name = param.param;
  std::ranges::replace(name, '.', '_');
  return name;
});

TEST(ModelConfigFiles, BuildOnAPreset) {
  const plugin::PluginRegistry plugins = find_plugins();
  const config::Registry registry = declare(plugins);
  for (const std::string& file : files()) {
    const config::Config config = config::resolve_settings(registry, {}, "", file);
    const auto from_file = std::ranges::count_if(
        config.entries(), [](const auto& entry) { return entry.second.origin.find(".toml") != std::string::npos; });
    EXPECT_GE(from_file, 1) << file;
    const auto from_preset = std::ranges::count_if(
        config.entries(), [](const auto& entry) { return entry.second.origin.starts_with("preset "); });
    EXPECT_GE(from_preset, 1) << file;
  }
}

}  // namespace
}  // namespace titan
