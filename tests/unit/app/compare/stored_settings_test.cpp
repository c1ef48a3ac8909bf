#include "core/app/compare/stored_settings.hpp"

#include <gtest/gtest.h>

#include "core/config/print.hpp"
#include "core/config/resolver.hpp"
#include "tests/unit/base/temporary_folder.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan::app {
namespace {

class StoredSettingsTest : public testing::Test {
 protected:
  StoredSettingsTest() { config::add_core_options(registry_); }

  config::Registry registry_;
  titan::test::TemporaryFolder folder_;
};

TEST_F(StoredSettingsTest, ReadsTheConfigurationOfARun) {
  const config::Config config = config::resolve_settings(
      registry_,
      {{"training.steps", "7"}, {"optimizer.param_groups", R"([{"pattern": "norm", "optimizer_kwargs": {}}])"}});
  const Settings settings = read_settings(folder_.write("config.toml", config::render_toml(config)));
  EXPECT_EQ(settings.at("training.steps"), "7");
  EXPECT_EQ(settings.at("dump_folder"), "./outputs");
  EXPECT_FALSE(settings.contains("debug.seed")) << "None is no value";
  EXPECT_EQ(settings.at("dataloader.shuffle"), "true");
  EXPECT_NE(settings.at("optimizer.param_groups").find("pattern = norm"), std::string::npos)
      << settings.at("optimizer.param_groups");
  for (const auto& [name, value] : settings) EXPECT_NE(registry_.find(name), nullptr) << name;
}

TEST_F(StoredSettingsTest, UnknownOptionsAreReadToo) {
  const Settings settings =
      read_settings(folder_.write("config.toml", "[other]\nx = [1, 2.5]\n[other.deep]\ny = {a = true}"));
  EXPECT_EQ(settings, (Settings{{"other.x", "[1, 2.5]"}, {"other.deep.y.a", "true"}}));
}

TEST_F(StoredSettingsTest, BrokenFilesAreErrors) {
  EXPECT_EQ(titan::test::thrown_by([&] { read_settings(folder_.write("config.toml", "x = = 1")); }).exit, Exit::config);
  EXPECT_EQ(titan::test::thrown_by([&] { read_settings(folder_ / "gone.toml"); }).exit, Exit::no_input);
}

TEST_F(StoredSettingsTest, WhatDoesNotChangeNumbersIsLeftOut) {
  const Settings settings = {{"dump_folder", "a"},           {"training.num_threads", "2"},
                             {"metrics.log_freq", "1"},      {"comm.init_timeout_seconds", "9"},
                             {"training.steps", "7"},        {"parallelism.data_parallel_shard_degree", "2"},
                             {"model.of.another", "plugin"}, {"module", "llama3"}};
  EXPECT_EQ(settings_that_matter(settings, registry_), (Settings{{"training.steps", "7"},
                                                                 {"parallelism.data_parallel_shard_degree", "2"},
                                                                 {"model.of.another", "plugin"},
                                                                 {"module", "llama3"}}));
}

TEST_F(StoredSettingsTest, DifferencesAreListedByName) {
  const std::vector<SettingDifference> found =
      differences({{"b", "1"}, {"a", "1"}, {"same", "x"}}, {{"b", "2"}, {"same", "x"}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "a");
  EXPECT_EQ(found[0].b, "");
  EXPECT_EQ(found[1].name, "b");
  EXPECT_EQ(found[1].a, "1");
  EXPECT_EQ(found[1].b, "2");
  EXPECT_TRUE(differences({{"a", "1"}}, {}).empty()) << "nothing is known of the other";
}

}  // namespace
}  // namespace titan::app
