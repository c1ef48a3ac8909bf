#include "core/app/rehearse/preflight_inputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/resolver.hpp"
#include "tests/support/temporary_folder.hpp"

namespace titan::app {
namespace {

using ::testing::HasSubstr;
using State = PreflightLine::State;

class PreflightInputsTest : public testing::Test {
 protected:
  PreflightInputsTest() { config::add_core_options(registry_); }
  config::Config resolved(const std::vector<config::Preset::Setting>& settings) {
    return config::resolve_settings(registry_, settings);
  }
  PreflightLine dataset(const std::string& path) {
    return dataset_line(resolved({{"dataloader.dataset_path", path}}), "dataset", "dataloader.dataset_path");
  }

  config::Registry registry_;
  test::TemporaryFolder folder_;
};

TEST_F(PreflightInputsTest, CountsTextFilesBelowAFolder) {
  folder_.write("a.jsonl", "{}");
  std::filesystem::create_directories(folder_ / "deep");
  folder_.write("deep/b.txt", "text");
  folder_.write("other.bin", "text");
  folder_.write(".hidden.txt", "text");
  const PreflightLine line = dataset(folder_.path());
  EXPECT_EQ(line.state, State::ok);
  EXPECT_THAT(line.detail, HasSubstr("2 files, 6 B: "));
  EXPECT_THAT(line.detail, HasSubstr("dataloader.dataset_path, command line"));
}

TEST_F(PreflightInputsTest, AFolderWithoutTextIsNoDataset) {
  const PreflightLine line = dataset(folder_.path());
  EXPECT_EQ(line.state, State::missing);
  EXPECT_THAT(line.detail, HasSubstr("no .jsonl, .jsonl.gz or .txt file in it"));
}

TEST_F(PreflightInputsTest, WhatIsNotThereIsMissing) {
  EXPECT_EQ(dataset("/nowhere").state, State::missing);
  EXPECT_EQ(tokenizer_line(resolved({{"hf_assets_path", folder_.path()}})).state, State::missing);
}

TEST_F(PreflightInputsTest, ATokenizerIsAFileThatCanBeRead) {
  folder_.write("tokenizer.json", "{}");
  EXPECT_EQ(tokenizer_line(resolved({{"hf_assets_path", folder_.path()}})).state, State::ok);
}

TEST_F(PreflightInputsTest, ValidationNeedsDataOnlyWhereItIsOn) {
  EXPECT_EQ(validation_line(resolved({})).state, State::none);
}

TEST(Preflight, ACheckpointHoldsParametersAndTwoStatesOfEach) {
  config::Registry registry;
  config::add_core_options(registry);
  titan_model_facts facts{};
  facts.num_parameters = 1000;
  EXPECT_EQ(checkpoint_bytes(config::resolve_settings(registry, {}), facts), 12'000U);
  EXPECT_EQ(checkpoint_bytes(config::resolve_settings(registry, {{"training.dtype", "bfloat16"}}), facts), 6'000U);
}

}  // namespace
}  // namespace titan::app
