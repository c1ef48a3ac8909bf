#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/hashing.hpp"
#include "core/base/json.hpp"
#include "core/base/json_field.hpp"
#include "core/checkpoint/dcp/dcp.hpp"
#include "core/checkpoint/dcp/metadata.hpp"
#include "core/checkpoint/dcp/object_writer.hpp"
#include "core/checkpoint/read.hpp"
#include "core/pickle/writer.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/support/vectors.hpp"
#include "tests/unit/checkpoint/made_tensor.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::AllOf;
using testing::blank;
using ::testing::HasSubstr;
using testing::MadeTensor;
using testing::whole;
using titan::testing::error_text;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20U;

std::string hash_of(const Source& source, const std::string& name) {
  const StoredTensor& stored = source.tensors.at(name);
  MadeTensor tensor = blank({name, stored.dtype, stored.shape}, whole(stored.shape));
  const std::vector<WantedPart> wanted = {tensor.wanted()};
  read_parts(source, wanted);
  return hash128({reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size()});
}

TEST(OpenDcpTest, TorchtitansTensorsHaveTheirExactValues) {
  TITAN_REQUIRE_VECTORS("dcp_2rank/expected_tensors.json");
  const std::filesystem::path vectors = titan::testing::vectors_dir() / "dcp_2rank";
  const Source source = open_dcp(vectors / "checkpoint/step-3");
  EXPECT_EQ(source.format, Format::dcp);
  EXPECT_EQ(source.files.size(), 2U);
  const auto expected = parse_json(read_file(vectors / "expected_tensors.json", kMostBytes), "expected");
  ASSERT_EQ(source.tensors.size(), expected.size());
  for (const auto& [name, tensor] : JsonField(expected, "test", "expected").members()) {
    ASSERT_TRUE(source.tensors.contains(name)) << name;
    const StoredTensor& stored = source.tensors.at(name);
    EXPECT_EQ(safetensors_name(stored.dtype), tensor.at("dtype").text());
    std::vector<std::int64_t> shape;
    for (const JsonField& size : tensor.at("shape").items()) shape.push_back(size.integer(0, 1000));
    EXPECT_EQ(stored.shape, shape) << name;
    EXPECT_EQ(hash_of(source, name), tensor.at("xxh128").text()) << name;
  }
}

TEST(OpenDcpTest, TorchtitansCounters) {
  TITAN_REQUIRE_VECTORS("dcp_2rank/expected_scalars.json");
  const std::filesystem::path vectors = titan::testing::vectors_dir() / "dcp_2rank";
  const auto scalars = parse_json(read_file(vectors / "expected_scalars.json", kMostBytes), "expected");
  const JsonField expected(scalars, "test", "expected");
  const Source source = open_dcp(vectors / "checkpoint/step-3");
  ASSERT_TRUE(source.train_state);
  EXPECT_EQ(source.train_state->step, expected.at("train_state").at("step").integer(0, 1000));
  EXPECT_EQ(source.train_state->num_tokens, expected.at("train_state").at("ntokens_seen").integer(0, 1000));
  EXPECT_EQ(source.train_state->schedule_step, expected.at("lr_scheduler").at("last_epoch").integer(0, 1000));
  EXPECT_FALSE(source.train_state->dataloader);
  EXPECT_FALSE(source.manifest);
}

/// A checkpoint in a folder, whose items may be wrong.
class MadeDcp {
 public:
  MadeDcp() { metadata.files = {"__0_0.distcp"}; }

  DcpItem add_item(const std::string& archive) {
    const DcpItem item{0, content.size(), archive.size()};
    content += archive;
    return item;
  }
  DcpItem add_tensor_item(DType dtype, const std::vector<std::int64_t>& shape) {
    const SavedTensorFrame frame(dtype, shape);
    return add_item(frame.head() + std::string(static_cast<std::size_t>(frame.data_size()), 'e') + frame.tail(0));
  }
  void add_counter(const std::string& name, std::int64_t count) {
    pickle::Writer pickle;
    pickle.integer(count);
    metadata.objects[name] = add_item(saved_object(pickle.finish()));
  }
  std::filesystem::path write() const {
    folder.write("__0_0.distcp", content);
    folder.write(".metadata", write_dcp_metadata(metadata));
    return folder.path();
  }
  std::string error() const {
    const std::filesystem::path path = write();
    return error_text<DataError>([&] { open_dcp(path); });
  }

  DcpMetadata metadata;
  std::string content;
  test::TemporaryFolder folder;
};

TEST(OpenDcpTest, AModelAlone) {
  MadeDcp made;
  made.metadata.tensors["w"] = {DType::bf16, {2, 3}, {{whole({2, 3}), made.add_tensor_item(DType::bf16, {2, 3})}}};
  made.metadata.tensors["scalar"] = {DType::f32, {}, {{{}, made.add_tensor_item(DType::f32, {})}}};
  made.metadata.tensors["empty"] = {DType::f32, {0, 3}, {}};
  const Source source = open_dcp(made.write());
  EXPECT_FALSE(source.train_state);
  EXPECT_EQ(source.tensors.size(), 3U);
  EXPECT_EQ(made.content.substr(source.tensors.at("w").parts[0].begin, 12), "eeeeeeeeeeee");
  EXPECT_TRUE(source.tensors.at("empty").parts.empty());
}

TEST(OpenDcpTest, CountersAsTensorsAndOnesThatOlderReleasesLack) {
  MadeDcp made;
  const SavedTensorFrame frame(DType::i32, {});
  const DcpItem item = made.add_item(frame.head() + std::string("\x07\x00\x00\x00", 4) + frame.tail(0));
  made.metadata.tensors["train_state.step"] = {DType::i32, {}, {{{}, item}}};
  const Source source = open_dcp(made.write());
  EXPECT_TRUE(source.tensors.empty());
  ASSERT_TRUE(source.train_state);
  EXPECT_EQ(source.train_state->step, 7);
  EXPECT_EQ(source.train_state->num_tokens, 0);
  EXPECT_EQ(source.train_state->schedule_step, 7);
}

TEST(OpenDcpTest, RefusesItemsThatAreNotWhatTheMetadataSays) {
  MadeDcp made;
  made.metadata.tensors["w"] = {DType::f32, {2, 3}, {{whole({2, 3}), made.add_tensor_item(DType::f32, {3, 2})}}};
  EXPECT_THAT(made.error(), AllOf(HasSubstr("a tensor is not what the metadata"), HasSubstr("w")));
  made.metadata.tensors["w"].chunks[0].item = made.add_tensor_item(DType::i32, {2, 3});
  EXPECT_THAT(made.error(), HasSubstr("int32"));
  pickle::Writer text;
  text.text("x");
  made.metadata.tensors["w"].chunks[0].item = made.add_item(saved_object(text.finish()));
  EXPECT_THAT(made.error(), AllOf(HasSubstr("__0_0.distcp: w"), HasSubstr("it is no tensor")));
  made.metadata.tensors["w"].chunks[0].item.length += 1;
  EXPECT_THAT(made.error(), HasSubstr("file is shorter than its items"));
}

TEST(OpenDcpTest, RefusesCountersThatAreNone) {
  MadeDcp made;
  made.add_counter("train_state.step", -1);
  EXPECT_THAT(made.error(), HasSubstr("a counter is negative: train_state.step: -1"));
}

TEST(OpenDcpTest, RefusesChunksThatDoNotTile) {
  MadeDcp made;
  made.metadata.tensors["w"] = {DType::f32, {2, 3}, {{{{0, 0}, {1, 3}}, made.add_tensor_item(DType::f32, {1, 3})}}};
  EXPECT_THAT(made.error(), AllOf(HasSubstr(".metadata: w: "), HasSubstr("gap")));
  made.metadata.tensors["w"].chunks.push_back({{{0, 1}, {1, 2}}, made.add_tensor_item(DType::f32, {1, 2})});
  made.metadata.tensors["w"].chunks.push_back({{{1, 0}, {1, 3}}, made.add_tensor_item(DType::f32, {1, 3})});
  EXPECT_THAT(made.error(), HasSubstr("overlap"));
}

TEST(OpenDcpTest, RefusesItemsThatShareBytes) {
  MadeDcp made;
  const DcpItem item = made.add_tensor_item(DType::f32, {1, 3});
  made.metadata.tensors["w"] = {DType::f32, {2, 3}, {{{{0, 0}, {1, 3}}, item}, {{{1, 0}, {1, 3}}, item}}};
  EXPECT_THAT(made.error(), HasSubstr("items of a DCP checkpoint share bytes: w, w"));
}

TEST(OpenDcpTest, RefusesLinksAndOtherFiles) {
  MadeDcp made;
  made.metadata.tensors["w"] = {DType::f32, {3}, {{whole({3}), made.add_tensor_item(DType::f32, {3})}}};
  const std::filesystem::path folder = made.write();
  std::filesystem::rename(folder / "__0_0.distcp", folder / "elsewhere");
  EXPECT_THAT(error_text<InputError>([&] { open_dcp(folder); }), HasSubstr("cannot open file"));
  std::filesystem::create_symlink("elsewhere", folder / "__0_0.distcp");
  EXPECT_THAT(error_text<DataError>([&] { open_dcp(folder); }), HasSubstr("links are not followed"));
  std::filesystem::remove(folder / "__0_0.distcp");
  std::filesystem::create_directory(folder / "__0_0.distcp");
  EXPECT_THAT(error_text<DataError>([&] { open_dcp(folder); }), HasSubstr("not a regular file"));
  std::filesystem::remove(folder / ".metadata");
  EXPECT_THAT(error_text<InputError>([&] { open_dcp(folder); }), HasSubstr(".metadata"));
}

TEST(OpenDcpTest, RefusesMetadataOfMoreThanItsLimit) {
  const test::TemporaryFolder folder;
  folder.write(".metadata", "");
  std::filesystem::resize_file(folder / ".metadata", (std::uint64_t{256} << 20U) + 1);
  EXPECT_THAT(error_text<DataError>([&] { open_dcp(folder.path()); }), HasSubstr("limit 268435456"));
}

TEST(OpenDcpTest, ReadsNoTensor) {
  // A file with a hole where the tensor is: three gibibytes that nobody reads.
  MadeDcp made;
  const std::vector<std::int64_t> shape = {std::int64_t{3} << 28U};
  const SavedTensorFrame frame(DType::f32, shape);
  made.metadata.tensors["w"] = {DType::f32, shape, {{whole(shape), {0, 0, frame.size()}}}};
  made.content = frame.head();
  const std::filesystem::path folder = made.write();
  std::ofstream file(folder / "__0_0.distcp", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(frame.head().size() + frame.data_size()));
  file << frame.tail(0);
  file.close();
  EXPECT_EQ(open_dcp(folder).tensors.at("w").parts[0].begin, frame.head().size());
}

}  // namespace
}  // namespace titan::checkpoint
