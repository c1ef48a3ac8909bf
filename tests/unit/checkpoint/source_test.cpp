#include "core/checkpoint/source.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/checkpoint/read.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/written_step.hpp"

namespace titan::checkpoint {
namespace {

using testing::WrittenStep;

constexpr const char* kFirst = "shard-00000-of-00002.safetensors";
constexpr const char* kSecond = "shard-00001-of-00002.safetensors";

class SourceTest : public ::testing::Test {
 protected:
  void SetUp() override { step.write_all(); }

  ManifestFile& listed(const std::string& name) {
    return *std::find_if(step.manifest.files.begin(), step.manifest.files.end(),
                         [&](const ManifestFile& file) { return file.name == name; });
  }
  std::string content(const std::string& name) { return read_file(step.folder() / name, 1U << 20U); }
  /// Writes another content of a listed file, and a manifest that has its size and hash.
  void replace(const std::string& name, const std::string& text) {
    step.put(name, text);
    listed(name) = {name, text.size(), hash128(text)};
    step.put_manifest();
  }
  void expect_refused(const std::string& file, const std::string& why) {
    const std::string text = titan::testing::error_text<DataError>([&] { open_titan(step.folder()); });
    EXPECT_NE(text.find(why), std::string::npos) << text;
    EXPECT_NE(text.find(file), std::string::npos) << text;
  }

  test::TemporaryFolder folder;
  WrittenStep step{folder / "step-3"};
};

TEST_F(SourceTest, OpensACommittedStep) {
  const Source source = open_titan(step.folder());
  EXPECT_EQ(source.format, Format::titan);
  EXPECT_EQ(source.folder, step.folder());
  EXPECT_EQ(source.manifest, step.manifest);
  EXPECT_EQ(source.train_state, (TrainState{3, 30, 3, "cursors"}));
  ASSERT_EQ(source.files.size(), 2U);
  EXPECT_EQ(source.files[1].path, step.folder() / kSecond);
  EXPECT_EQ(source.tensors.at("b").shape, (std::vector<std::int64_t>{7}));
  EXPECT_EQ(source.tensors.at("w").parts.size(), 2U);
}

TEST_F(SourceTest, AModelAloneNeedsNoTrainState) {
  step.manifest.contents = Contents::model_only;
  std::erase(step.manifest.files, listed(kTrainStateFile));
  std::filesystem::remove(step.folder() / kTrainStateFile);
  step.put_manifest();
  EXPECT_EQ(open_titan(step.folder()).train_state, std::nullopt);
  step.manifest.contents = Contents::full;
  step.put_manifest();
  expect_refused("MANIFEST.json", "the manifest lists no train_state.json");
}

TEST_F(SourceTest, TheFolderMayHaveAnotherNameOrBeReachedByALink) {
  std::filesystem::create_directory_symlink(step.folder(), folder / "latest");
  EXPECT_EQ(open_titan(folder / "latest").tensors.size(), 3U);
  std::filesystem::rename(step.folder(), folder / "mine");
  EXPECT_EQ(open_titan(folder / "mine").tensors.size(), 3U);
}

TEST_F(SourceTest, RefusesTheManifestOfAnotherStep) {
  std::filesystem::rename(step.folder(), folder / "step-4");
  const auto open_there = [&] { open_titan(folder / "step-4/."); };
  EXPECT_NE(titan::testing::error_text<DataError>(open_there).find("the manifest is of another step: "),
            std::string::npos);
}

TEST_F(SourceTest, RefusesFilesThatAreMissingOrOfAnotherKind) {
  std::filesystem::remove(step.folder() / kSecond);
  expect_refused(kSecond, "a file is missing");
  std::filesystem::create_symlink(kFirst, step.folder() / kSecond);
  expect_refused(kSecond, "links are not followed");
  std::filesystem::remove(step.folder() / kSecond);
  std::filesystem::create_directory(step.folder() / kSecond);
  expect_refused(kSecond, "not a regular file");
}

TEST_F(SourceTest, WaitsForAFileThatASharedFileSystemShowsLate) {
  std::filesystem::rename(step.folder() / kSecond, folder / "late");
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::filesystem::rename(folder / "late", step.folder() / kSecond);
  });
  EXPECT_NO_THROW(open_titan(step.folder()));
  other.join();
}

TEST_F(SourceTest, RefusesFilesOfAnotherSize) {
  const std::string whole = content(kSecond);
  step.put(kSecond, whole.substr(0, whole.size() - 1));
  expect_refused(kSecond, "of another size than its manifest says");
  step.put(kSecond, whole + "x");
  expect_refused(kSecond, "of another size than its manifest says");
  step.put(kSecond, "");
  expect_refused(kSecond, "of another size than its manifest says");
}

TEST_F(SourceTest, RefusesDamageInEachSmallFile) {
  for (const char* name : {kIndexFile, kTrainStateFile}) {
    const std::string whole = content(name);
    for (const std::size_t at : {std::size_t{0}, whole.size() / 2, whole.size() - 1}) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ 1);
      step.put(name, flipped);
      expect_refused(name, "damaged");
    }
    step.put(name, whole);
  }
  std::string manifest = content(kManifestFile);
  manifest[manifest.size() / 2] = '\x01';
  step.put(kManifestFile, manifest);
  expect_refused(kManifestFile, "MANIFEST.json");
}

TEST_F(SourceTest, RefusesShardsWhoseHeaderIsAnother) {
  std::string shard = content(kFirst);
  const std::string whole = shard;
  shard[1] = static_cast<char>(shard[1] ^ 1);  // the header's length
  replace(kFirst, shard);
  expect_refused(kFirst, kFirst);
  shard = whole;
  shard.replace(shard.find("F32"), 3, "I32");
  replace(kFirst, shard);
  expect_refused(kSecond, "w: shards disagree about its dtype or shape");
  shard = whole;
  shard.replace(shard.find("I64"), 3, "F64");
  replace(kFirst, shard);
  expect_refused(kIndexFile, "count: the shards hold it elsewhere, in another form");
}

TEST_F(SourceTest, RefusesAnotherRanksShardUnderThisName) {
  step.put(kFirst, content(kSecond));
  listed(kFirst).size = listed(kSecond).size;
  step.put_manifest();
  expect_refused(kFirst, kIndexFile);
}

TEST_F(SourceTest, RefusesAnIndexThatNamesOtherTensors) {
  const Index index = index_of(step.folder(), step.reports, step.manifest.save_id);
  Index fewer = index;
  fewer.tensors.erase("b");
  replace(kIndexFile, write_index(fewer));
  expect_refused(kIndexFile, "b: the shards hold it, the index does not name it");
  Index renamed = index;
  renamed.tensors["c"] = renamed.tensors["b"];
  renamed.tensors.erase("b");
  replace(kIndexFile, write_index(renamed));
  expect_refused(kIndexFile, "c: the shards hold it elsewhere, in another form, or not at all");
  Index other = index;
  other.files[0].path = "elsewhere.safetensors";
  replace(kIndexFile, write_index(other));
  expect_refused(kIndexFile, "elsewhere.safetensors: the manifest does not list it");
}

TEST_F(SourceTest, ATensorWithoutElementsNeedsNoPlaceInAShard) {
  Index index = index_of(step.folder(), step.reports, step.manifest.save_id);
  index.tensors["empty"] = {DType::bf16, {0, 3}, {}};
  replace(kIndexFile, write_index(index));
  const Source source = open_titan(step.folder());
  EXPECT_EQ(source.tensors.at("empty"), index.tensors["empty"]);
  const WantedPart wanted{{"empty", DType::bf16, {0, 3}}, {{0, 0}, {0, 3}}, nullptr};
  EXPECT_NO_THROW(read_parts(source, {&wanted, 1}));
  const WantedPart other{{"empty", DType::bf16, {0, 4}}, {{0, 0}, {0, 4}}, nullptr};
  EXPECT_THROW(read_parts(source, {&other, 1}), DataError);
}

TEST_F(SourceTest, RefusesAShardOfAnotherSave) {
  std::string shard = content(kSecond);
  shard.replace(shard.find("7777"), 4, "6666");
  replace(kSecond, shard);
  expect_refused(kSecond, "belongs to another save");
}

std::string& warnings() {
  static thread_local std::string text;
  return text;
}

TEST_F(SourceTest, WarnsOfFilesThatNobodyLists) {
  step.put("notes.txt", "mine");
  warnings().clear();
  set_log_sink([](LogLevel level, std::string_view, std::string_view text) {
    if (level == LogLevel::warning) warnings() += text;
  });
  open_titan(step.folder());
  set_log_sink(nullptr);
  EXPECT_NE(warnings().find("files that the manifest does not list are ignored"), std::string::npos) << warnings();
  EXPECT_NE(warnings().find("notes.txt"), std::string::npos);
  EXPECT_EQ(warnings().find("index.json"), std::string::npos);
}

TEST_F(SourceTest, WhatIsNotThereIsNoInput) {
  EXPECT_THROW(open_titan(folder / "nothing"), InputError);
  EXPECT_THROW(open_titan(step.folder() / kIndexFile), InputError);
  std::filesystem::remove(step.folder() / kManifestFile);
  EXPECT_THROW(open_titan(step.folder()), InputError);
}

TEST_F(SourceTest, KnowsFormatsByTheirFiles) {
  EXPECT_EQ(format_of(step.folder()), Format::titan);
  std::filesystem::remove(step.folder() / kIndexFile);
  EXPECT_EQ(format_of(step.folder()), Format::titan);
  step.put(".metadata", "");
  EXPECT_EQ(format_of(step.folder()), Format::dcp);
  step.put("model.safetensors", "");
  EXPECT_EQ(format_of(step.folder()), Format::hugging_face);
  folder.write("hub/model.safetensors.index.json", "");
  EXPECT_EQ(format_of(folder / "hub"), Format::hugging_face);
  EXPECT_NE(titan::testing::error_text<InputError>([&] { format_of(folder.path()); }).find("not a checkpoint"),
            std::string::npos);
  EXPECT_THROW(format_of(folder / "nothing"), InputError);
}

}  // namespace
}  // namespace titan::checkpoint
