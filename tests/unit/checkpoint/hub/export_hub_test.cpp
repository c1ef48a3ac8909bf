#include <gmock/gmock.h>

#include <cerrno>

#include "core/base/error.hpp"
#include "tests/support/faulty_calls.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/hub/hub_models.hpp"
#include "tests/unit/checkpoint/written_step.hpp"

namespace titan::checkpoint {
namespace {

using enum HubTransform;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using titan::testing::error_text;

/// A source in our names, and a folder to export it to.
class ExportHub : public ::testing::Test {
 protected:
  ExportHub() {
    std::filesystem::create_directories(folder_ / "ours");
    std::filesystem::create_directories(folder_ / "hub");
  }

  Source ours(const std::vector<MadeTensor>& tensors) const {
    write_tensors(folder_ / "ours/model.safetensors", tensors);
    return open_hub(folder_ / "ours");
  }
  std::vector<std::string> write(const Source& source, const std::vector<HubName>& names,
                                 const HubExport& options = {}) const {
    return export_hub(system_calls(), source, names, folder_ / "hub", options);
  }
  Source read() const { return open_hub(folder_ / "hub"); }

  test::TemporaryFolder folder_;
};

TEST_F(ExportHub, OneFileHasNoIndex) {
  EXPECT_THAT(write(ours({{"a", {2}, {1, 2}}}), {{"a", "theirs"}}), ElementsAre("model.safetensors"));
  EXPECT_THAT(elements<float>(read(), "theirs"), ElementsAre(1, 2));
  const SafetensorsHeader header = read_safetensors_header(folder_ / "hub/model.safetensors");
  EXPECT_EQ(header.metadata, (std::map<std::string, std::string>{{"format", "pt"}}));
}

TEST_F(ExportHub, ATensorWithoutElementsComesThroughAStepOfOurs) {
  testing::WrittenStep step(folder_ / "step-3");
  step.manifest.contents = Contents::model_only;
  const std::vector<float> values{1, 2};
  const HeldPart parts[] = {{{"a", DType::f32, {2}}, {{0}, {2}}, reinterpret_cast<const std::byte*>(values.data())},
                            {{"none", DType::bf16, {0, 3}}, {{0, 0}, {0, 3}}, nullptr}};
  const std::string& id = step.manifest.save_id;
  const ShardReport report = write_shard(system_calls(), step.folder() / shard_name(0, 1), lay_out_shard(parts, id));
  step.manifest.files.push_back({report.name, report.size, report.hash});
  step.add_file(kIndexFile, write_index(index_of(step.folder(), {&report, 1}, id)));
  step.put_manifest();
  const Source source = open_titan(step.folder());
  EXPECT_EQ(source.tensors.at("none"), (StoredTensor{DType::bf16, {0, 3}, {}}));
  const WantedPart wanted{{"none", DType::bf16, {0, 3}}, {{0, 0}, {0, 3}}, nullptr};
  EXPECT_NO_THROW(read_parts(source, {&wanted, 1}));
  write(source, {{"a", "theirs"}, {"none", "their_none"}});
  EXPECT_THAT(elements<float>(read(), "theirs"), ElementsAre(1, 2));
  EXPECT_EQ(read().tensors.at("their_none"), source.tensors.at("none"));
}

TEST_F(ExportHub, FilesAreCutBySize) {
  const Source source = ours({{"a", {2}, {1, 2}}, {"b", {3}, {3, 4, 5}}, {"c", {1}, {6}}, {"d", {1}, {7}}});
  const std::vector<HubName> names{{"a", "a"}, {"b", "b"}, {"c", "c"}, {"d", "d"}};
  EXPECT_THAT(write(source, names, {.dtype = {}, .most_bytes_a_file = 8}),
              ElementsAre("model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                          "model-00003-of-00003.safetensors", "model.safetensors.index.json"));
  const Source hub = read();
  EXPECT_EQ(hub.files.size(), 3U);
  EXPECT_THAT(elements<float>(hub, "b"), ElementsAre(3, 4, 5)) << "larger than a file, and alone in its own";
  EXPECT_THAT(elements<float>(hub, "d"), ElementsAre(7));
}

TEST_F(ExportHub, RanksShareTheFiles) {
  const Source source = ours({{"a", {1}, {1}}, {"b", {1}, {2}}, {"c", {1}, {3}}});
  const std::vector<HubName> names{{"a", "a"}, {"b", "b"}, {"c", "c"}};
  EXPECT_THAT(write(source, names, {.dtype = {}, .most_bytes_a_file = 4, .rank = 1, .world_size = 2}),
              ElementsAre("model-00002-of-00003.safetensors"));
  EXPECT_THAT(write(source, names, {.dtype = {}, .most_bytes_a_file = 4, .rank = 0, .world_size = 2}),
              ElementsAre("model-00001-of-00003.safetensors", "model-00003-of-00003.safetensors",
                          "model.safetensors.index.json"));
  EXPECT_THAT(names_of(read()), ElementsAre("a", "b", "c"));
}

TEST_F(ExportHub, PairsBecomeHalvesAndStacksTensors) {
  const Source source = ours({{"wq", {8, 1}, {0, 1, 2, 3, 4, 5, 6, 7}}, {"w1", {2, 1, 2}, {1, 2, 3, 4}}});
  write(source, {{"wq", "q", rope_halves, 2}, {"w1", "e.*.up", stacked, 2}});
  EXPECT_THAT(names_of(read()), ElementsAre("e.0.up", "e.1.up", "q"));
  EXPECT_THAT(elements<float>(read(), "q"), ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
  EXPECT_THAT(elements<float>(read(), "e.1.up"), ElementsAre(3, 4));
  EXPECT_EQ(read().tensors.at("e.1.up").shape, (std::vector<std::int64_t>{1, 2}));
}

TEST_F(ExportHub, FloatsAreConverted) {
  write(ours({{"a", {3}, {1, -2, 0.5F}}}), {{"a", "a"}}, {.dtype = DType::bf16});
  EXPECT_EQ(read().tensors.at("a").dtype, DType::bf16);
  EXPECT_THAT(elements<std::uint16_t>(read(), "a"), ElementsAre(0x3F80, 0xC000, 0x3F00));
}

TEST_F(ExportHub, EmptyAndScalarTensorsGoAlong) {
  write(ours({{"none", {0, 2}, {}}, {"scalar", {}, {3}}}), {{"none", "none"}, {"scalar", "scalar"}});
  EXPECT_EQ(read().tensors.at("none").shape, (std::vector<std::int64_t>{0, 2}));
  EXPECT_THAT(elements<float>(read(), "scalar"), ElementsAre(3));
}

TEST_F(ExportHub, LargeTensorsGoInPieces) {
  constexpr std::int64_t kRows = 20, kColumns = 1 << 20;  // 80 MiB
  std::vector<float> values(kRows * kColumns);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 8191);
  const Source source = ours({{"wq", {kRows, kColumns}, values}});
  std::vector<std::uint64_t> progress;
  write(source, {{"wq", "q", rope_halves, 10}},
        {.dtype = {}, .progress = [&](std::uint64_t done, std::uint64_t) { progress.push_back(done); }});
  EXPECT_GT(progress.size(), 1U);
  EXPECT_EQ(progress.back(), values.size() * sizeof(float));
  EXPECT_EQ(content(translate(read(), std::vector<HubName>{{"wq", "q", rope_halves, 10}}), "wq"),
            content(source, "wq"));
}

TEST_F(ExportHub, NamesAreThoseOfTheModel) {
  const Source source = ours({{"a", {1}, {1}}, {"b", {1}, {2}}, {"optimizer.state.a.exp_avg", {1}, {3}}});
  EXPECT_THAT(error_text<DataError>([&] {
                write(source, {{"a", "a"}});
              }),
              HasSubstr("names on the hub do not cover: b"));
  EXPECT_THAT(error_text<DataError>([&] {
                write(source, {{"a", "a"}, {"b", "b"}, {"c", "c"}});
              }),
              HasSubstr("lacks parameters of the model: c"));
  EXPECT_THAT(error_text<DataError>([&] {
                write(source, {{"a", "a"}, {"b", "b", stacked, 2}});
              }),
              HasSubstr("no stack of that many: b"));
}

TEST_F(ExportHub, BiasesThatBalanceExpertsAreLeftOut) {
  const Source source = ours({{"a", {1}, {1}}, {"layers.0.moe.expert_bias", {2}, {1, 2}}});
  write(source, {{"a", "a"}});
  EXPECT_THAT(names_of(read()), ElementsAre("a"));
  const test::TemporaryFolder other;
  export_hub(system_calls(), source,
             std::vector<HubName>{{"a", "a"}, {"layers.0.moe.expert_bias", "gate.e_score_correction_bias"}},
             other.path());
  EXPECT_THAT(names_of(open_hub(other.path())), ElementsAre("a", "gate.e_score_correction_bias"));
}

TEST_F(ExportHub, NothingIsOverwritten) {
  const Source source = ours({{"a", {1}, {1}}});
  write(source, {{"a", "a"}});
  EXPECT_THAT(error_text<CreateError>([&] {
                write(source, {{"a", "a"}});
              }),
              HasSubstr("model.safetensors: File exists"));
}

TEST_F(ExportHub, FailuresOfTheDiskAreNamed) {
  const Source source = ours({{"a", {1}, {1}}, {"b", {1}, {2}}});
  const auto failure = [&](test::Call call, int error) {
    const test::TemporaryFolder folder;
    test::FaultyCalls calls;
    calls.set_fault({.deed = test::Fault::Deed::fail, .call = call, .error = error});
    return error_text<IoError>([&] {
      export_hub(calls, source, std::vector<HubName>{{"a", "a"}, {"b", "b"}}, folder.path(),
                 {.dtype = {}, .most_bytes_a_file = 4});
    });
  };
  EXPECT_THAT(failure(test::Call::write, ENOSPC), HasSubstr("model-00001-of-00002.safetensors: No space left"));
  EXPECT_THAT(failure(test::Call::write, ENOSPC), HasSubstr("need "));
  EXPECT_THAT(failure(test::Call::fsync, EIO), HasSubstr("model-00001-of-00002.safetensors: Input/output error"));
}

TEST_F(ExportHub, TheReferenceIsWrittenBitForBit) {
  TITAN_REQUIRE_VECTORS("llama3_tiny/model_hf.safetensors");
  const Source expected = reference_of_hub(folder_);
  write(open_hub(titan::testing::vectors_dir() / "llama3_tiny"), tiny_llama_names(),
        {.dtype = {}, .most_bytes_a_file = 300'000});
  const Source hub = read();
  EXPECT_EQ(hub.files.size(), 3U);
  ASSERT_EQ(names_of(hub), names_of(expected));
  for (const std::string& name : names_of(hub)) {
    EXPECT_EQ(hub.tensors.at(name).shape, expected.tensors.at(name).shape) << name;
    EXPECT_EQ(content(hub, name), content(expected, name)) << name;
  }
}

TEST_F(ExportHub, ThereAndBackIsTheSame) {
  TITAN_REQUIRE_VECTORS("llama3_tiny");
  const Source first = open_hub(titan::testing::vectors_dir() / "llama3_tiny");
  write(first, tiny_llama_names());
  const Source back = translate(read(), tiny_llama_names());
  ASSERT_EQ(names_of(back), names_of(first));
  for (const std::string& name : names_of(back)) EXPECT_EQ(content(back, name), content(first, name)) << name;
}

}  // namespace
}  // namespace titan::checkpoint
