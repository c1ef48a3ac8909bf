#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/hashing.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/hub/hub_models.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::AllOf;
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
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("a file that the index names is missing: "), HasSubstr("model-2.safetensors")));
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

/// A step of ours whose files are the hub's.
class StepOfHubFiles : public OpenHub {
 protected:
  StepOfHubFiles() {
    manifest_.save_id = std::string(32, 'a');
    manifest_.contents = Contents::model_only;
    for (const char* name : {"model.safetensors.index.json", "model-1.safetensors", "model-2.safetensors"}) {
      manifest_.files.push_back({name, std::filesystem::file_size(folder_ / name), hash128_file(folder_ / name)});
    }
    put_manifest();
  }

  void put_manifest() { folder_.write("MANIFEST.json", write_manifest(manifest_)); }
  void flip_last_byte(const std::string& name) {
    std::string content = read_file(folder_ / name, 1U << 20U);
    content.back() = static_cast<char>(content.back() ^ 1);
    folder_.write(name, content);
  }

  Manifest manifest_;
};

TEST_F(StepOfHubFiles, AManifestVouchesForTheFiles) {
  const Source hub = open();
  EXPECT_EQ(hub.manifest, manifest_);
  EXPECT_THAT(verify(hub), IsEmpty());
  EXPECT_THAT(elements<float>(hub, "a"), ElementsAre(1, 2));
}

TEST_F(StepOfHubFiles, NothingIsReadOfADamagedFile) {
  flip_last_byte("model-2.safetensors");  // of the elements
  const Source hub = open();
  EXPECT_THAT(verify(hub), ElementsAre(HasSubstr("model-2.safetensors: damaged")));
  std::vector<float> a(2), b(3);
  const WantedPart wanted[] = {{{"a", DType::f32, {2}}, {{0}, {2}}, reinterpret_cast<std::byte*>(a.data())},
                               {{"b", DType::f32, {1, 3}}, {{0, 0}, {1, 3}}, reinterpret_cast<std::byte*>(b.data())}};
  EXPECT_THAT(error_text<DataError>([&] { read_parts(hub, wanted); }),
              AllOf(HasSubstr("damaged file: "), HasSubstr("/model-2.safetensors: its hash is not the one in")));
  EXPECT_THAT(a, ElementsAre(0, 0)) << "of the file that is whole neither";
  EXPECT_NO_THROW(read_parts(hub, {wanted, 1})) << "nothing of the damaged file is wanted";
}

TEST_F(StepOfHubFiles, HashingIsPartOfTheProgress) {
  const Source hub = open();
  std::uint64_t last = 0, all = 0, calls = 0;
  std::vector<float> a(2);
  const WantedPart wanted{{"a", DType::f32, {2}}, {{0}, {2}}, reinterpret_cast<std::byte*>(a.data())};
  const auto tell = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_GT(done, last);
    last = done;
    all = total;
    ++calls;
  };
  read_parts(hub, {&wanted, 1}, {.progress = tell});
  EXPECT_EQ(last, all);
  EXPECT_EQ(calls, 2U);
  last = 0;
  read_parts(hub, {&wanted, 1}, {.progress = tell});
  EXPECT_EQ(calls, 3U) << "the file is hashed once";
}

TEST_F(StepOfHubFiles, FilesMustBeThoseOfTheManifest) {
  flip_last_byte("model.safetensors.index.json");
  EXPECT_THAT(refusal(), HasSubstr("model.safetensors.index.json: hash is not the one in its manifest"));
  flip_last_byte("model.safetensors.index.json");
  manifest_.files[1].size += 1;
  put_manifest();
  EXPECT_THAT(refusal(), HasSubstr("of another size than its manifest says"));
  manifest_.files.erase(manifest_.files.begin() + 1);
  put_manifest();
  EXPECT_THAT(refusal(), HasSubstr("the manifest does not list a file of the model: "));
  manifest_.files.push_back({"gone", 1, std::string(32, '0')});
  put_manifest();
  EXPECT_THAT(refusal(), HasSubstr("a file is missing: "));
}

TEST_F(StepOfHubFiles, TheStepIsThatOfTheFolder) {
  const test::TemporaryFolder run;
  std::filesystem::copy(folder_.path(), run / "step-9");
  EXPECT_THAT(error_text<DataError>([&] { open_hub(run / "step-9"); }), HasSubstr("the manifest is of another step: "));
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
