#include "core/app/missing_inputs.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/config/resolver.hpp"

namespace titan::app {
namespace {

thread_local std::vector<std::string> warnings;

std::vector<std::string> warnings_of(const std::vector<config::Preset::Setting>& settings) {
  config::Registry registry;
  config::add_core_options(registry);
  const config::Config config = config::resolve_settings(registry, settings);
  warnings.clear();
  set_log_sink([](LogLevel, std::string_view, std::string_view text) { warnings.emplace_back(text); });
  warn_of_missing_inputs(config);
  set_log_sink(nullptr);
  return warnings;
}

TEST(MissingInputs, NamesOptionPathAndOrigin) {
  const auto found = warnings_of({{"hf_assets_path", "/nowhere/tokenizer"}, {"dataloader.dataset_path", "/"}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], "does not exist here, training would stop: hf_assets_path = /nowhere/tokenizer (command line)");
}

TEST(MissingInputs, ValidationCountsOnlyWhereItIsOn) {
  const std::vector<config::Preset::Setting> paths = {
      {"hf_assets_path", "/"}, {"dataloader.dataset_path", "/"}, {"validator.dataset_path", "/nowhere"}};
  EXPECT_TRUE(warnings_of(paths).empty());
  auto enabled = paths;
  enabled.push_back({"validator.enable", "true"});
  EXPECT_EQ(warnings_of(enabled).size(), 1U);
  enabled[2].value = "None";
  EXPECT_TRUE(warnings_of(enabled).empty());
}

}  // namespace
}  // namespace titan::app
