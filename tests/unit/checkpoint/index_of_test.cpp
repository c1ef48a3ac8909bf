#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/checkpoint/index.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/written_step.hpp"

namespace titan::checkpoint {
namespace {

using testing::WrittenStep;

constexpr const char* kFirst = "shard-00000-of-00002.safetensors";
constexpr const char* kSecond = "shard-00001-of-00002.safetensors";

class IndexOfTest : public ::testing::Test {
 protected:
  Index joined() { return index_of(step.folder(), step.reports, step.manifest.save_id); }
  std::string refusal() {
    return titan::testing::error_text<DataError>([&] { joined(); });
  }
  void expect_refused(const std::string& file, const std::string& why) {
    const std::string text = refusal();
    EXPECT_NE(text.find(why), std::string::npos) << text;
    EXPECT_NE(text.find(file), std::string::npos) << text;
  }

  test::TemporaryFolder folder;
  WrittenStep step{folder / "step-3"};
  const std::vector<SafetensorsEntry> four = {{{"w", DType::f32, {4}}, 0, 0}};
};

TEST_F(IndexOfTest, JoinsThePartsOfTwoShards) {
  step.write_all();
  const Index index = joined();
  ASSERT_EQ(index.files.size(), 2U);
  EXPECT_EQ(index.files[1].path, kSecond);
  EXPECT_EQ(index.files[1].block_hashes, step.reports[1].block_hashes);
  ASSERT_EQ(index.tensors.size(), 3U);
  EXPECT_EQ(index.tensors.at("w"),
            (StoredTensor{DType::f32, {5, 2}, {{{{0, 0}, {3, 2}}, 0, 4096}, {{{3, 0}, {2, 2}}, 1, 4096}}}));
  EXPECT_EQ(index.tensors.at("count"), (StoredTensor{DType::i64, {}, {{{{}, {}}, 0, 4096 + 24}}}));
}

TEST_F(IndexOfTest, TensorsWithoutElementsHaveNoParts) {
  step.add_shard(kFirst, {{{"e", DType::f32, {0, 2}}, 0, 0}}, R"({"e": {"shape": [0, 2], "offset": [0, 0]}})");
  EXPECT_EQ(joined().tensors.at("e"), (StoredTensor{DType::f32, {0, 2}, {}}));
}

TEST_F(IndexOfTest, RefusesAShardOfAnotherSave) {
  step.add_shard(kFirst, four, R"({"w": {"shape": [4], "offset": [0]}})");
  step.manifest.save_id = std::string(32, '8');
  expect_refused(kFirst, "belongs to another save: 77777");
}

TEST_F(IndexOfTest, RefusesAFileThatIsNoShard) {
  std::vector<SafetensorsEntry> entries = four;
  step.add_raw_shard(kFirst, write_safetensors_header(entries, {{"format", "pt"}}, 8) + std::string(16, 'x'));
  expect_refused(kFirst, "not a shard of a step: of format pt");
  step.reports.clear();
  step.add_raw_shard(kSecond, write_safetensors_header(entries, {}, 8) + std::string(16, 'x'));
  expect_refused(kSecond, "no \"format\" in its metadata");
  step.reports[0].name = "../x";
  expect_refused("../x", "not the name of a shard");
}

TEST_F(IndexOfTest, RefusesAnotherSize) {
  step.add_shard(kFirst, four, R"({"w": {"shape": [4], "offset": [0]}})");
  step.reports[0].size += 1;
  expect_refused(kFirst, "of another size: 4112 bytes, expected 4113");
}

TEST_F(IndexOfTest, RefusesMetadataThatDoesNotFitTheTensors) {
  const auto expect_places_refused = [&](const char* places, const char* why) {
    step.reports.clear();
    step.add_shard(kFirst, four, places);
    expect_refused(kFirst, why);
  };
  expect_places_refused("{}", "w: its metadata does not say of which part");
  expect_places_refused(R"({"w": {"shape": [4], "offset": [0]}, "v": {"shape": [4], "offset": [0]}})",
                        "names tensors that it does not hold");
  expect_places_refused(R"({"w": {"shape": [4, 1], "offset": [0, 0]}})", "w: its part has another number of dims");
  expect_places_refused(R"({"w": {"shape": [4], "offset": [0], "x": 1}})", "unknown field: \"x\"");
  expect_places_refused(R"({"w": {"shape": [4]}})", "missing field: \"offset\"");
  expect_places_refused(R"({"w": {"shape": [4], "offset": [-1]}})", "number out of range");
  expect_places_refused(R"({"w": 1})", "parts: expected objects");
  expect_places_refused("[]", "parts: expected an object");
  expect_places_refused(R"({"w": {"shape": [4], "offset": [0]}, "w": {"shape": [4], "offset": [0]}})",
                        "a name is twice in an object: w");
  expect_places_refused("", "parts");
}

TEST_F(IndexOfTest, RefusesPartsThatDoNotFitTogether) {
  step.add_shard(kFirst, four, R"({"w": {"shape": [8], "offset": [0]}})");
  expect_refused("step-3", "w: its parts leave a gap: 4 of 8");
  step.add_shard(kSecond, four, R"({"w": {"shape": [8], "offset": [3]}})");
  expect_refused("step-3", "w: its parts overlap");
  step.reports.pop_back();
  step.add_shard(kSecond, four, R"({"w": {"shape": [9], "offset": [4]}})");
  expect_refused(kSecond, "w: shards disagree about its dtype or shape");
}

TEST_F(IndexOfTest, AMissingShardIsNotThere) {
  step.write_all();
  std::filesystem::remove(step.folder() / kSecond);
  EXPECT_THROW(joined(), InputError);
}

}  // namespace
}  // namespace titan::checkpoint
