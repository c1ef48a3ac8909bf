#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/checkpoint/dcp/dcp_names.hpp"
#include "core/checkpoint/dcp/metadata.hpp"
#include "core/pickle/writer.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/support/vectors.hpp"
#include "tests/unit/checkpoint/dcp/made_metadata.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::made_metadata;
using titan::testing::error_text;

DcpMetadata read(std::string bytes) { return read_dcp_metadata(std::move(bytes), "there/.metadata"); }

std::string error_of(const DcpMetadata& metadata) {
  return error_text<DataError>([&] { read(write_dcp_metadata(metadata)); });
}

/// Reads bytes that nobody vouches for: a DataError, or nothing.
void survive(std::string bytes) {
  try {
    read(std::move(bytes));
  } catch (const DataError&) {
  }
}

TEST(MetadataReaderTest, TorchtitansOwn) {
  TITAN_REQUIRE_VECTORS("dcp_2rank/checkpoint/step-3/.metadata");
  const DcpMetadata metadata =
      read(read_file(titan::testing::vectors_dir() / "dcp_2rank/checkpoint/step-3/.metadata", std::uint64_t{1} << 20U));
  EXPECT_THAT(metadata.files, ::testing::ElementsAre("__0_0.distcp", "__1_0.distcp"));
  EXPECT_EQ(metadata.tensors.size(), 84U);
  EXPECT_EQ(metadata.objects.size(), 263U);
  const DcpTensor& embedding = metadata.tensors.at("tok_embeddings.weight");
  EXPECT_EQ(embedding.dtype, DType::f32);
  EXPECT_THAT(embedding.shape, ::testing::ElementsAre(301, 32));
  ASSERT_EQ(embedding.chunks.size(), 2U);
  EXPECT_EQ(embedding.chunks[1].box, (Box{{151, 0}, {150, 32}}));
  EXPECT_EQ(embedding.chunks[1].item.file, 1U);
  EXPECT_EQ(metadata.objects.at("train_state.step"), (DcpItem{0, 0, 1261}));
}

TEST(MetadataReaderTest, RefusesWhatDoesNotFit) {
  DcpMetadata metadata = made_metadata();
  metadata.tensors["layers.0.w"].chunks[1].box.offset[0] = 3;
  EXPECT_THAT(error_of(metadata),
              AllOf(HasSubstr("there/.metadata"), HasSubstr("layers.0.w"), HasSubstr("a chunk leaves the tensor")));
  metadata = made_metadata();
  metadata.tensors["layers.0.w"].chunks[1].box = {{2}, {1}};
  EXPECT_THAT(error_of(metadata), HasSubstr("a chunk has other dims"));
  metadata = made_metadata();
  metadata.tensors["layers.0.w"].chunks[1].box = metadata.tensors["layers.0.w"].chunks[0].box;
  EXPECT_THAT(error_of(metadata), HasSubstr("storage_data has it twice"));
  metadata = made_metadata();
  metadata.tensors["layers.0.w"].shape = {-1, 4};
  EXPECT_THAT(error_of(metadata), HasSubstr("size has a size that is no count"));
  metadata = made_metadata();
  metadata.tensors["layers.0.w"].shape = {std::int64_t{1} << 40U, std::int64_t{1} << 40U};
  EXPECT_THAT(error_of(metadata), HasSubstr("too many elements"));
  metadata = made_metadata();
  metadata.tensors["layers.0.w"].shape.assign(17, 1);
  EXPECT_THAT(error_of(metadata), HasSubstr("size has more than 16 dims"));
  metadata = made_metadata();
  metadata.objects["train_state.step"].offset = std::uint64_t{1} << 63U;
  EXPECT_THAT(error_of(metadata), AllOf(HasSubstr("train_state.step"), HasSubstr("offset is no count")));
  metadata = made_metadata();
  metadata.objects["train_state.step"].offset = metadata.objects["train_state.step"].length = ~std::uint64_t{0} >> 1U;
  EXPECT_THAT(error_of(metadata), HasSubstr("its length is too large"));
  metadata = made_metadata();
  metadata.objects[std::string(5000, 'n')] = {};
  EXPECT_THAT(error_of(metadata), HasSubstr("no text, or too long"));
}

TEST(MetadataReaderTest, RefusesFilesElsewhere) {
  for (const std::string name : {"../x.distcp", "/etc/passwd", "a/b", "..", ".", "", "a\nb"}) {
    DcpMetadata metadata = made_metadata();
    metadata.files[1] = name;
    EXPECT_THAT(error_of(metadata), HasSubstr("not the name of a file in the same folder")) << name;
  }
}

TEST(MetadataReaderTest, RefusesOtherNames) {
  // Wherever it stands, and whatever it is called with.
  for (const std::string_view name : {"os.system", "posix.system", "builtins.eval", "builtins.getattr", "torch.load",
                                      "torch.distributed.checkpoint.metadata.Other", "torch.float8_e4m3fn",
                                      "numpy._core.multiarray._reconstruct", "pathlib.Path", "_codecs.encode"}) {
    pickle::Writer pickle;
    pickle.name(dcp_names::kMetadata);
    pickle.begin_object();
    pickle.text("planner_data");
    pickle.name(name);
    pickle.begin_tuple();
    pickle.text("touch /tmp/x");
    pickle.end_tuple();
    pickle.call();
    pickle.end_object();
    const std::string bytes = pickle.finish();
    EXPECT_THAT(error_text<DataError>([&] { read(bytes); }), HasSubstr(concat("does not belong here: ", name, ",")));
  }
}

TEST(MetadataReaderTest, RefusesOtherObjects) {
  const auto error_of_pickle = [](const std::function<void(pickle::Writer&)>& write) {
    pickle::Writer pickle;
    write(pickle);
    return error_text<DataError>([&] { read(pickle.finish()); });
  };
  EXPECT_THAT(error_of_pickle([](pickle::Writer& pickle) { pickle.integer(1); }), HasSubstr("no Metadata"));
  EXPECT_THAT(error_of_pickle([](pickle::Writer& pickle) {
                pickle.name(dcp_names::kMetadata);
                pickle.object();
              }),
              HasSubstr("it lacks storage_data"));
  EXPECT_THAT(error_of_pickle([](pickle::Writer& pickle) {
                pickle.name(dcp_names::kMetadata);
                pickle.begin_object();
                pickle.text("storage_data");
                pickle.integer(1);
                pickle.end_object();
              }),
              HasSubstr("storage_data is of another kind"));
  EXPECT_THAT(error_of_pickle([](pickle::Writer& pickle) {
                pickle.name(dcp_names::kMetadata);
                pickle.begin_object();
                pickle.text("storage_data");
                pickle.begin_dict();
                pickle.end_dict();
                pickle.text("state_dict_metadata");
                pickle.begin_dict();
                pickle.text("x");
                pickle.name(dcp_names::kObject);
                pickle.object();
                pickle.end_dict();
                pickle.end_object();
              }),
              AllOf(HasSubstr(": x: "), HasSubstr("storage_data lacks it")));
}

TEST(MetadataReaderTest, SurvivesEveryCut) {
  const std::string whole = write_dcp_metadata(made_metadata());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(read(whole.substr(0, size)), DataError) << size;
  }
}

TEST(MetadataReaderTest, SurvivesEveryFlippedBit) {
  const std::string whole = write_dcp_metadata(made_metadata());
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1U << bit % 8));
    survive(std::move(flipped));
  }
}

TEST(MetadataReaderTest, SurvivesDamageOfTorchtitansOwn) {
  TITAN_REQUIRE_VECTORS("dcp_2rank/checkpoint/step-3/.metadata");
  const std::string whole =
      read_file(titan::testing::vectors_dir() / "dcp_2rank/checkpoint/step-3/.metadata", std::uint64_t{1} << 20U);
  std::mt19937_64 random(7);
  for (int i = 0; i < 100; ++i) {
    EXPECT_THROW(read(whole.substr(0, random() % whole.size())), DataError);
    std::string damaged = whole;
    for (int k = 0; k < 3; ++k) damaged[random() % damaged.size()] = static_cast<char>(random());
    survive(std::move(damaged));
  }
}

std::string text(std::string_view value) {
  std::string bytes = "X";
  for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value.size() >> shift & 0xffU);
  return bytes.append(value);
}

std::string name(std::string_view dotted) {
  const std::size_t dot = dotted.rfind('.');
  return concat('c', dotted.substr(0, dot), '\n', dotted.substr(dot + 1), '\n');
}

std::string object(std::string_view dotted, const std::string& fields) {
  return concat(name(dotted), ")\x81}(", fields, "ub");
}

std::string sizes(unsigned size) {
  return concat(name(dcp_names::kSize), 'M', static_cast<char>(size & 0xffU), static_cast<char>(size >> 8U),
                "\x85\x85R");
}

TEST(MetadataReaderTest, SharedChunksAreNotReadAgainAndAgain) {
  // Tensors that all recall the first one's list of chunks, which makes their number squared of it.
  constexpr unsigned kMany = 3000;
  std::string places, chunks, tensors;
  for (unsigned i = 0; i < kMany; ++i) {
    const std::string number = "K" + std::string(1, '\x01');
    places += object(dcp_names::kIndex, text("fqn") + text("first") + text("offset") + sizes(i));
    places += object(dcp_names::kStorageInfo,
                     text("relative_path") + text("file") + text("offset") + number + text("length") + number);
    chunks += object(dcp_names::kChunk, text("offsets") + sizes(i) + text("sizes") + sizes(1));
    tensors += text(concat("t", i)) + "h" + std::string(1, '\0');
  }
  const std::string properties = concat(name(dcp_names::kProperties), ")\x81(", name("torch.float32"),
                                        name(dcp_names::kLayout), text("torch.strided"), "\x85R\x89", "N\x89tb");
  const std::string first = object(dcp_names::kTensor, text("properties") + properties + text("size") + sizes(kMany) +
                                                           text("chunks") + "](" + chunks + "e");
  const auto metadata = [&](const std::string& others) {
    return concat(
        "\x80\x04",
        object(dcp_names::kMetadata, text("storage_data") + "}(" + places + "u" + text("state_dict_metadata") + "}(" +
                                         text("first") + first + "\x94" + others + "u"),
        '.');
  };
  EXPECT_EQ(read(metadata("")).tensors.at("first").chunks.size(), kMany);
  EXPECT_THAT(error_text<DataError>([&] { read(metadata(tensors)); }),
              HasSubstr("t0: more chunks than storage_data has places for"));
}

}  // namespace
}  // namespace titan::checkpoint
