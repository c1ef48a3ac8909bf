#include "core/checkpoint/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include "core/base/error.hpp"
#include "core/config/resolver.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Settings = std::vector<config::Preset::Setting>;

const config::Registry& registry() {
  static const config::Registry made = [] {
    config::Registry registry;
    config::add_core_options(registry);
    return registry;
  }();
  return made;
}

config::Config configured(Settings settings, bool enable = true) {
  if (enable) settings.push_back({"checkpoint.enable", "true"});
  return config::resolve_settings(registry(), settings);
}

Options read(const Settings& settings, std::int64_t world_size = 1) {
  return read_options(configured(settings), world_size);
}

std::string refusal(const Settings& settings, std::int64_t world_size = 1) {
  return testing::error_text<ConfigError>([&] { read(settings, world_size); });
}

TEST(CheckpointOptions, AreTorchtitansByDefault) {
  const Options options = read_options(configured({}, false), 1);
  EXPECT_FALSE(options.enable);
  EXPECT_FALSE(options.saves());
  EXPECT_EQ(options.folder, std::filesystem::path("./outputs/checkpoint"));
  EXPECT_EQ(options.interval, 500);
  EXPECT_EQ(options.keep_latest_k, 10);
  EXPECT_EQ(options.load_step, -1);
  EXPECT_TRUE(options.last_save_model_only);
  EXPECT_EQ(options.export_dtype, DType::f32);
  EXPECT_TRUE(options.initial_load_model_only);
  EXPECT_FALSE(options.is_async);
}

TEST(CheckpointOptions, AnAbsoluteFolderStandsAlone) {
  EXPECT_EQ(read({{"checkpoint.folder", "/somewhere"}}).folder, "/somewhere");
}

TEST(CheckpointOptions, OneIsTooFewToKeep) {
  EXPECT_THAT(refusal({{"checkpoint.keep_latest_k", "1"}}), HasSubstr("checkpoint.keep_latest_k"));
  EXPECT_EQ(read({{"checkpoint.keep_latest_k", "0"}}).keep_latest_k, 0);
}

TEST(CheckpointOptions, ExcludesWhatIsNamed) {
  const Excluded excluded = read({{"checkpoint.exclude_from_loading", "optimizer,lr_scheduler"}}).excluded;
  EXPECT_TRUE(excluded.optimizer && excluded.lr_scheduler);
  EXPECT_FALSE(excluded.dataloader || excluded.train_state);
}

TEST(CheckpointOptions, WhatCannotBeExcludedIsNamed) {
  EXPECT_THAT(refusal({{"checkpoint.exclude_from_loading", "model"}}), HasSubstr("model"));
  EXPECT_THAT(refusal({{"checkpoint.exclude_from_loading", "data_loader"}}),
              AllOf(HasSubstr("data_loader"), HasSubstr("dataloader and")));
  EXPECT_THAT(refusal({{"checkpoint.exclude_from_loading", "optimizer"}}), HasSubstr("needs lr_scheduler too"));
}

TEST(CheckpointOptions, TheHubHoldsModelsAlone) {
  EXPECT_THAT(refusal({{"checkpoint.last_save_in_hf", "true"}, {"checkpoint.last_save_model_only", "false"}}),
              HasSubstr("last_save_model_only"));
  EXPECT_THAT(refusal({{"checkpoint.initial_load_in_hf", "true"}, {"checkpoint.initial_load_model_only", "false"}}),
              HasSubstr("initial_load_in_hf"));
}

TEST(CheckpointOptions, TheHubsFilesAreThoseOfTheAssetsByDefault) {
  EXPECT_EQ(read({{"checkpoint.initial_load_in_hf", "true"}, {"hf_assets_path", "/assets"}}).initial_load_path,
            "/assets");
  EXPECT_EQ(
      read({{"checkpoint.initial_load_in_hf", "true"}, {"checkpoint.initial_load_path", "/weights"}}).initial_load_path,
      "/weights");
}

TEST(CheckpointOptions, AnAddressIsNoFolder) {
  EXPECT_THAT(refusal({{"checkpoint.initial_load_path", "s3://bucket/step-5"}}), HasSubstr("s3://bucket/step-5"));
}

TEST(CheckpointOptions, ASeedIsMadeOnOneRankAndSaved) {
  const Settings seed{{"checkpoint.create_seed_checkpoint", "true"}};
  EXPECT_TRUE(read(seed).create_seed_checkpoint);
  EXPECT_THAT(refusal(seed, 2), HasSubstr("one rank"));
  EXPECT_THAT(testing::error_text<ConfigError>([&] { read_options(configured(seed, false), 1); }),
              HasSubstr("--checkpoint.enable"));
  EXPECT_THAT(refusal({{"checkpoint.create_seed_checkpoint", "true"}, {"checkpoint.load_only", "true"}}),
              HasSubstr("checkpoint.load_only"));
}

TEST(CheckpointOptions, WhatHasNoEffectIsSaid) {
  EXPECT_THAT(ignored_options(configured({}, false)), IsEmpty());
  EXPECT_THAT(ignored_options(configured({{"checkpoint.interval", "5"}}, false)),
              ElementsAre(HasSubstr("checkpoint.interval")));
  EXPECT_THAT(ignored_options(
                  configured({{"checkpoint.load_only", "true"}, {"checkpoint.enable_first_step_checkpoint", "true"}})),
              ElementsAre(HasSubstr("enable_first_step_checkpoint is ignored")));
  EXPECT_THAT(ignored_options(configured({{"checkpoint.async_mode", "async_with_pinned_mem"}})),
              ElementsAre(HasSubstr("pin")));
  EXPECT_THAT(ignored_options(
                  configured({{"checkpoint.export_dtype", "bfloat16"}, {"checkpoint.last_save_model_only", "false"}})),
              ElementsAre(HasSubstr("export_dtype")));
}

class CheckpointFolders : public ::testing::Test {
 protected:
  Options options(const std::string& folder) const {
    Options made;
    made.enable = true;
    made.folder = folder_ / folder;
    return made;
  }
  test::TemporaryFolder folder_;
};

TEST_F(CheckpointFolders, AreMadeLater) {
  EXPECT_NO_THROW(check_folders(options("a/b/c")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a"));
}

TEST_F(CheckpointFolders, SomethingElseOfThatNameIsRefused) {
  folder_.write("file", "text");
  std::filesystem::create_symlink("nowhere", folder_ / "dangling");
  for (const char* name : {"file", "file/below", "dangling", "dangling/below"}) {
    EXPECT_THAT(testing::error_text<CreateError>([&] { check_folders(options(name)); }), HasSubstr("something else"))
        << name;
  }
}

TEST_F(CheckpointFolders, OneThatCannotBeWrittenToIsRefused) {
  if (::geteuid() == 0) GTEST_SKIP() << "nothing is forbidden to root";
  std::filesystem::create_directory(folder_ / "readonly");
  std::filesystem::permissions(folder_ / "readonly", std::filesystem::perms::owner_read);
  EXPECT_THAT(testing::error_text<CreateError>([&] { check_folders(options("readonly")); }), HasSubstr("readonly"));
}

TEST_F(CheckpointFolders, WhatIsToBeLoadedMustBeThere) {
  Options made = options("new");
  made.initial_load_path = folder_ / "absent";
  EXPECT_THAT(testing::error_text<InputError>([&] { check_folders(made); }), HasSubstr("absent"));
  made.enable = false;
  EXPECT_NO_THROW(check_folders(made));
}

}  // namespace
}  // namespace titan::checkpoint
