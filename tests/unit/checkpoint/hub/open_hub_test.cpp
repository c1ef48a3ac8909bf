#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/hub/hub_models.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using titan::testing::error_text;

/// A folder with two files, a in the first and b in the second, and what the index says of them.
class OpenHub : public ::testing::Test {
 protected:
  OpenHub() {
    write_tensors(folder_ / "model-1.safetensors", {{"a", {2}, {1, 2}}});
    write_tensors(folder_ / "model-2.safetensors",
                  {{"b", {1, 3}, {3, 4, 5}}, {"none", {0, 2}, {}}, {"scalar", {}, {6}}});
    index(R"("a": "model-1.safetensors", "b": "model-2.safetensors", "none": "model-2.safetensors",
             "scalar": "model-2.safetensors")");
  }

  void index(const std::string& weights) {
    folder_.write("model.safetensors.index.json", R"({"weight_map": {)" + weights + "}}");
  }
  Source open() const { return open_hub(folder_.path()); }
  std::string refusal() const {
    return error_text<DataError>([&] { open(); });
  }

  test::TemporaryFolder folder_;
};

TEST_F(OpenHub, SeveralFiles) {
  const Source hub = open();
  EXPECT_EQ(hub.format, Format::hugging_face);
  EXPECT_THAT(names_of(hub), ElementsAre("a", "b", "none", "scalar"));
  EXPECT_THAT(elements<float>(hub, "a"), ElementsAre(1, 2));
  EXPECT_THAT(elements<float>(hub, "b"), ElementsAre(3, 4, 5));
  EXPECT_THAT(elements<float>(hub, "scalar"), ElementsAre(6));
  EXPECT_EQ(hub.tensors.at("none").shape, (std::vector<std::int64_t>{0, 2}));
  EXPECT_FALSE(hub.manifest || hub.train_state);
}

TEST_F(OpenHub, ASingleFileComesFirst) {
  write_tensors(folder_ / "model.safetensors", {{"c", {1}, {7}}});
  EXPECT_THAT(names_of(open()), ElementsAre("c"));
}

TEST_F(OpenHub, NeitherIsNoModel) {
  const test::TemporaryFolder empty;
  EXPECT_THAT(error_text<InputError>([&] { open_hub(empty.path()); }), HasSubstr("no model of the Hugging Face hub"));
}

TEST_F(OpenHub, FilesMustBeThere) {
  std::filesystem::remove(folder_ / "model-2.safetensors");
  EXPECT_THAT(refusal(), HasSubstr("model-2.safetensors: No such file"));
}

TEST_F(OpenHub, TensorsMustBeInTheirFile) {
  index(R"("a": "model-2.safetensors", "b": "model-2.safetensors")");
  EXPECT_THAT(refusal(), HasSubstr("names a tensor that is not in its file: a, "));
  index(R"("a": "model-1.safetensors", "c": "model-2.safetensors")");
  EXPECT_THAT(refusal(), HasSubstr("names a tensor that is not in its file: c, "));
}

TEST_F(OpenHub, ATensorIsInOneFile) {
  write_tensors(folder_ / "model-1.safetensors", {{"a", {2}, {1, 2}}, {"b", {1}, {3}}});
  EXPECT_THAT(refusal(), HasSubstr("two files have a tensor of one name: b, "));
}

TEST_F(OpenHub, LinksAreRefusedWithTheWayOut) {
  std::filesystem::rename(folder_ / "model-2.safetensors", folder_ / "blob");
  std::filesystem::create_symlink("blob", folder_ / "model-2.safetensors");
  EXPECT_THAT(refusal(), HasSubstr("links are not followed"));
  EXPECT_THAT(refusal(), HasSubstr("hf download MODEL --local-dir FOLDER"));
}

TEST_F(OpenHub, AnIndexBehindALinkIsRefused) {
  std::filesystem::rename(folder_ / "model.safetensors.index.json", folder_ / "blob");
  std::filesystem::create_symlink("blob", folder_ / "model.safetensors.index.json");
  EXPECT_THAT(refusal(), HasSubstr("links are not followed"));
}

TEST_F(OpenHub, BrokenFilesAreNamed) {
  folder_.write("model-1.safetensors", "short");
  EXPECT_THAT(refusal(), HasSubstr("model-1.safetensors"));
  std::filesystem::remove(folder_ / "model-1.safetensors");
  std::filesystem::create_directory(folder_ / "model-1.safetensors");
  EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
}

TEST_F(OpenHub, AMillionEntriesOfNothing) {
  std::string weights;
  for (int i = 0; i < 1'000'000; ++i) weights += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":\"none.safetensors\"";
  index(weights);
  EXPECT_THAT(refusal(), HasSubstr("more values than allowed"));
}

TEST_F(OpenHub, AManifestVouchesForTheFiles) {
  write_tensors(folder_ / "model.safetensors", {{"c", {1}, {7}}});
  Manifest manifest;
  manifest.save_id = std::string(32, 'a');
  manifest.contents = Contents::model_only;
  const auto put = [&](std::uint64_t size, const std::string& hash) {
    manifest.files = {{"model.safetensors", size, hash}};
    folder_.write("MANIFEST.json", write_manifest(manifest));
  };
  const std::uint64_t size = std::filesystem::file_size(folder_ / "model.safetensors");
  put(size, hash128_file(folder_ / "model.safetensors"));
  EXPECT_EQ(open().manifest, manifest);
  EXPECT_THAT(verify(open()), IsEmpty());
  put(size, std::string(32, '0'));
  EXPECT_THAT(verify(open()), ElementsAre(HasSubstr("model.safetensors: damaged")));
  put(size + 1, std::string(32, '0'));
  EXPECT_THAT(refusal(), HasSubstr("the manifest does not list the file, or with another size: "));
}

TEST(OpenHubVectors, TransformersFilesHoldTheWeights) {
  TITAN_REQUIRE_VECTORS("hf_sharded");
  const test::TemporaryFolder folder;
  const Source expected = reference_of_hub(folder);
  const Source hub = open_hub(titan::testing::vectors_dir() / "hf_sharded");
  EXPECT_EQ(hub.files.size(), 2U);
  ASSERT_EQ(names_of(hub), names_of(expected));
  for (const std::string& name : names_of(hub)) EXPECT_EQ(content(hub, name), content(expected, name)) << name;
}

}  // namespace
}  // namespace titan::checkpoint
