#include "core/checkpoint/read.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/base/temporary_folder.hpp"
#include "tests/unit/checkpoint/made_step.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::AllOf;
using testing::blank;
using testing::cut;
using ::testing::HasSubstr;
using testing::MadeStep;
using testing::MadeTensor;
using testing::same_bytes;
using testing::whole;
using titan::testing::error_text;

constexpr std::uint64_t kSmallBlock = 4096;

std::int64_t up_to(std::int64_t most, std::mt19937_64& random) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
}

/// Cuts a box in two, somewhere; nothing when no dim has two indices.
std::optional<std::pair<Box, Box>> split(const Box& box, std::mt19937_64& random) {
  if (box.size.empty()) return std::nullopt;
  const std::size_t dim = random() % box.size.size();
  if (box.size[dim] < 2) return std::nullopt;
  std::pair<Box, Box> halves{box, box};
  halves.first.size[dim] = 1 + up_to(box.size[dim] - 2, random);
  halves.second.offset[dim] += halves.first.size[dim];
  halves.second.size[dim] -= halves.first.size[dim];
  return halves;
}

std::vector<Box> random_tiling(const std::vector<std::int64_t>& shape, std::size_t most, std::mt19937_64& random) {
  std::vector<Box> boxes = {whole(shape)};
  for (std::size_t tries = 0; tries < 3 * most && boxes.size() < most; ++tries) {
    const std::size_t chosen = random() % boxes.size();
    if (const auto halves = split(boxes[chosen], random)) {
      boxes[chosen] = halves->first;
      boxes.push_back(halves->second);
    }
  }
  return boxes;
}

Box random_box(const std::vector<std::int64_t>& shape, std::mt19937_64& random) {
  Box box = whole(shape);
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (random() % 2 == 0) continue;
    box.offset[dim] = up_to(shape[dim], random);
    box.size[dim] = up_to(shape[dim] - box.offset[dim], random);
  }
  return box;
}

constexpr std::array kDTypes = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64,
                                DType::i32, DType::i16, DType::i8,  DType::u8,   DType::boolean};

std::vector<MadeTensor> random_tensors(std::mt19937_64& random) {
  std::vector<MadeTensor> tensors;
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    std::vector<std::int64_t> shape(random() % 4);
    for (std::int64_t& size : shape) size = 1 + up_to(20, random);
    tensors.push_back(testing::random_tensor(concat("layers.", i, ".w"), kDTypes[i], shape, random));
  }
  return tensors;
}

/// Hands the tiles of each tensor to ranks, one tile a rank.
void save_tiled(MadeStep& step, const std::vector<MadeTensor>& tensors, std::size_t ranks, std::mt19937_64& random) {
  std::vector<std::vector<MadeTensor>> shards(ranks);
  for (const MadeTensor& tensor : tensors) {
    std::size_t rank = random();
    for (const Box& box : random_tiling(tensor.info.shape, ranks, random)) {
      shards[rank++ % ranks].push_back(cut(tensor, box));
    }
  }
  for (const auto& shard : shards) step.add_shard(shard);
}

TEST(ReadTest, AnyTilingIsReadAsAnyOther) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    std::mt19937_64 random(seed);
    const test::TemporaryFolder folder;
    MadeStep step(folder.path());
    const std::vector<MadeTensor> tensors = random_tensors(random);
    save_tiled(step, tensors, 1 + random() % 6, random);
    for (const std::uint64_t block_size : {std::uint64_t{1} << 20U, kSmallBlock, std::uint64_t{0}}) {
      step.set_block_size(block_size);
      std::vector<MadeTensor> out;
      for (int i = 0; i < 40; ++i) {
        const TensorInfo& info = tensors[random() % tensors.size()].info;
        out.push_back(blank(info, random_box(info.shape, random)));
      }
      read_parts(step.source, testing::wanted(out));
      for (const MadeTensor& part : out) {
        const auto& tensor = *std::ranges::find(tensors, part.info, &MadeTensor::info);
        ASSERT_TRUE(same_bytes(part.bytes, cut(tensor, part.box).bytes)) << seed << " " << part.info.name;
      }
    }
  }
}

TEST(ReadTest, ConvertsFloatingTypes) {
  std::mt19937_64 random(1);
  const test::TemporaryFolder folder;
  MadeStep step(folder.path());
  const MadeTensor tensor = testing::random_tensor("w", DType::f32, {300, 41}, random);
  save_tiled(step, {tensor}, 3, random);
  // Not aligned to elements, as files of others may be.
  for (const bool is_odd : {false, true}) {
    if (is_odd) {
      std::string content = read_file(step.source.files[0].path, 1U << 20U);
      folder.write(step.source.files[0].path.filename(), content.insert(0, "x"));
      ++step.source.files[0].size;
      for (StoredPart& part : step.source.tensors["w"].parts) part.begin += part.file == 0 ? 1 : 0;
      step.set_block_size(0);
    }
    MadeTensor out = blank({"w", DType::bf16, {300, 41}}, {{5, 7}, {211, 30}});
    const WantedPart want = out.wanted();
    EXPECT_THROW(read_parts(step.source, {&want, 1}), DataError);
    read_parts(step.source, {&want, 1}, {.rules = {.may_convert = true}});
    const MadeTensor exact = cut(tensor, out.box);
    std::vector<std::byte> expected(out.bytes.size());
    convert(exact.bytes, DType::f32, expected, DType::bf16);
    EXPECT_TRUE(same_bytes(out.bytes, expected));
  }
}

/// A tensor whose bytes fill many pieces of one file.
class LargeReadTest : public ::testing::Test {
 protected:
  LargeReadTest() : step_(folder_.path()), tensor_(testing::random_tensor("w", DType::f32, {5000, 1024}, random_)) {
    step_.add_shard({tensor_});
  }
  /// Reads a box, compares it, and returns how many bytes were read of the file.
  std::uint64_t read(const Box& box) {
    MadeTensor out = blank(tensor_.info, box);
    const WantedPart want = out.wanted();
    std::uint64_t bytes = 0;
    read_parts(step_.source, {&want, 1}, {.progress = [&](std::uint64_t done, std::uint64_t total) {
                 EXPECT_GT(done, bytes);
                 EXPECT_LE(done, total);
                 bytes = done;
               }});
    EXPECT_TRUE(same_bytes(out.bytes, cut(tensor_, box).bytes));
    return bytes;
  }

  std::mt19937_64 random_{2};
  const test::TemporaryFolder folder_;
  MadeStep step_;
  MadeTensor tensor_;
};

TEST_F(LargeReadTest, ReadsTheWholeInPieces) { EXPECT_EQ(read(whole({5000, 1024})), step_.source.files[0].size); }

TEST_F(LargeReadTest, ReadsColumns) { EXPECT_EQ(read({{0, 1000}, {5000, 17}}), step_.source.files[0].size); }

TEST_F(LargeReadTest, ReadsNoMoreThanTheBlocksItNeeds) {
  EXPECT_EQ(read({{2000, 0}, {1, 1024}}), 1U << 20U);
  EXPECT_EQ(read({{1000, 0}, {2000, 1024}}), 9U << 20U);
}

TEST_F(LargeReadTest, WithoutBlocksReadsNoMoreThanPages) {
  step_.set_block_size(0);
  EXPECT_EQ(read({{2000, 0}, {1, 1024}}), 4096U);
  EXPECT_EQ(read({{1000, 0}, {2000, 1024}}), 2000U * 4096U);
}

TEST_F(LargeReadTest, MayBeGivenUp) {
  MadeTensor out = blank(tensor_.info, tensor_.box);
  const WantedPart want = out.wanted();
  const ReadOptions options{.progress = [](std::uint64_t, std::uint64_t) { throw Interrupted(2); }};
  EXPECT_THROW(read_parts(step_.source, {&want, 1}, options), Interrupted);
}

TEST_F(LargeReadTest, ManyTinyPartsAreReadAsOne) {
  // Every row a part of its own, as names of another layout give them.
  const StoredPart all = step_.source.tensors["w"].parts[0];
  std::vector<StoredPart>& parts = step_.source.tensors["w"].parts;
  parts.clear();
  for (std::int64_t row = 0; row < 5000; ++row) {
    parts.push_back({{{4999 - row, 0}, {1, 1024}}, 0, all.begin + static_cast<std::uint64_t>(row) * 4096});
  }
  const MadeTensor upside_up = tensor_;
  for (std::size_t row = 0; row < 5000; ++row) {
    std::memcpy(tensor_.bytes.data() + row * 4096, upside_up.bytes.data() + (4999 - row) * 4096, 4096);
  }
  EXPECT_EQ(read({{0, 3}, {5000, 1000}}), step_.source.files[0].size);
}

/// Two files of small blocks.
class DamagedReadTest : public ::testing::Test {
 protected:
  DamagedReadTest() : step_(folder_.path()) {
    tensors_.push_back(testing::random_tensor("layers.0.w", DType::f32, {50, 100}, random_));
    tensors_.push_back(testing::random_tensor("layers.1.w", DType::f32, {50, 100}, random_));
    tensors_.push_back(testing::random_tensor("norm", DType::bf16, {7}, random_));
    step_.add_shard({tensors_[0], tensors_[2]});
    step_.add_shard({tensors_[1]});
    step_.set_block_size(kSmallBlock);
  }
  void read() {
    out_.clear();
    for (const MadeTensor& tensor : tensors_) out_.push_back(blank(tensor.info, tensor.box));
    read_parts(step_.source, testing::wanted(out_));
  }
  const std::filesystem::path& path(std::size_t file) const { return step_.source.files[file].path; }
  std::string name(std::size_t file) const { return path(file).filename().string(); }

  std::mt19937_64 random_{3};
  const test::TemporaryFolder folder_;
  MadeStep step_;
  std::vector<MadeTensor> tensors_, out_;
};

TEST_F(DamagedReadTest, AFlippedBitAnywhereIsFoundBeforeItIsCopied) {
  EXPECT_NO_THROW(read());
  const std::string good = read_file(path(0), 1U << 20U);
  const std::uint64_t data = step_.source.tensors["layers.0.w"].parts[0].begin;
  for (int i = 0; i < 200; ++i) {
    const std::uint64_t at = data + random_() % (good.size() - data);
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ (1 << (i % 8)));
    folder_.write(path(0).filename(), bad);
    const bool is_last_block = at / kSmallBlock == (good.size() - 1) / kSmallBlock;
    EXPECT_THAT(error_text<DataError>([&] { read(); }),
                AllOf(HasSubstr(name(0)), HasSubstr(is_last_block ? "in layers.0.w, norm" : "in layers.0.w")));
    const std::size_t in_tensor = std::min<std::size_t>(at - data, out_[0].bytes.size() - 1);
    EXPECT_EQ(out_[0].bytes[in_tensor], std::byte{0xAA});
  }
}

TEST_F(DamagedReadTest, OtherSizesAreRefused) {
  const std::string good = read_file(path(1), 1U << 20U);
  for (const std::string& bad : {std::string(), good.substr(0, good.size() - 1), good + "x"}) {
    folder_.write(path(1).filename(), bad);
    EXPECT_THAT(error_text<DataError>([&] { read(); }), AllOf(HasSubstr(name(1)), HasSubstr("another size")));
  }
}

TEST_F(DamagedReadTest, AShardOfAnotherSaveIsRefused) {
  folder_.write(path(1).filename(), read_file(path(0), 1U << 20U));
  EXPECT_THAT(error_text<DataError>([&] { read(); }), HasSubstr(name(1)));
  // The same size, and another content.
  const std::string good = read_file(path(0), 1U << 20U);
  folder_.write(path(1).filename(), std::string(step_.source.files[1].size, 'x'));
  EXPECT_THAT(error_text<DataError>([&] { read(); }), AllOf(HasSubstr(name(1)), HasSubstr("layers.1.w")));
}

TEST_F(DamagedReadTest, LinksAndFoldersAreRefused) {
  std::filesystem::rename(path(1), folder_ / "elsewhere");
  std::filesystem::create_symlink("elsewhere", path(1));
  EXPECT_THAT(error_text<DataError>([&] { read(); }), AllOf(HasSubstr(name(1)), HasSubstr("links")));
  std::filesystem::remove(path(1));
  std::filesystem::create_directory(path(1));
  EXPECT_THAT(error_text<DataError>([&] { read(); }), HasSubstr(name(1)));
}

TEST_F(DamagedReadTest, AMissingFileIsNoInput) {
  std::filesystem::remove(path(1));
  EXPECT_THAT(error_text<InputError>([&] { read(); }), HasSubstr(name(1)));
}

TEST_F(DamagedReadTest, WaitsForAFileThatIsShownLate) {
  std::filesystem::rename(path(1), folder_ / "late");
  std::thread server([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    std::filesystem::rename(folder_ / "late", path(1));
  });
  EXPECT_NO_THROW(read());
  server.join();
}

TEST_F(DamagedReadTest, OpensNothingOutsideItsFolder) {
  const test::TemporaryFolder other;
  std::filesystem::rename(path(1), other / name(1));
  step_.source.files[1].path = other / name(1);
  EXPECT_THROW(read(), InputError);
}

}  // namespace
}  // namespace titan::checkpoint
