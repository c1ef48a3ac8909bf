#include "core/checkpoint/runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/unit/checkpoint/made_tensor.hpp"

namespace titan::checkpoint {
namespace {

using testing::cut;
using testing::MadeTensor;
using testing::whole;

Box random_box(const std::vector<std::int64_t>& shape, std::mt19937_64& random) {
  Box box = whole(shape);
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (random() % 3 == 0) continue;  // whole dims are common, and special
    box.size[dim] = 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape[dim]));
    box.offset[dim] = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape[dim] - box.size[dim] + 1));
  }
  return box;
}

TEST(RunsTest, IntersectionHoldsWhatBothHold) {
  EXPECT_EQ(intersection({{0, 2}, {4, 4}}, {{2, 0}, {9, 3}}), (Box{{2, 2}, {2, 1}}));
  EXPECT_EQ(intersection({{0}, {4}}, {{4}, {4}}), std::nullopt);
  EXPECT_EQ(intersection({{0, 0}, {4, 0}}, {{0, 0}, {4, 4}}), std::nullopt);
  EXPECT_EQ(intersection({{}, {}}, {{}, {}}), (Box{{}, {}}));
}

TEST(RunsTest, WholeRowsAreOneRun) {
  const Runs runs = runs_of({{0, 0}, {8, 4}}, {{2, 0}, {3, 4}}, {{2, 0}, {3, 4}});
  EXPECT_EQ(runs.length, 12U);
  EXPECT_EQ(runs.from, 8U);
  EXPECT_EQ(runs.to, 0U);
  EXPECT_TRUE(runs.dims.empty());
  EXPECT_EQ(runs.from_end(), 20U);
}

TEST(RunsTest, AScalarIsOneElement) {
  const Runs runs = runs_of({{}, {}}, {{}, {}}, {{}, {}});
  EXPECT_EQ(runs.length, 1U);
  EXPECT_EQ(runs.from_end(), 1U);
}

TEST(RunsTest, RangesJoinWhatIsNearer) {
  // Columns 1 and 2 of 3 x 2 rows of 5 elements, of 4 bytes each, from byte 1000 on.
  const Box from{{0, 0, 0}, {3, 4, 5}}, to{{0, 1, 1}, {3, 2, 2}};
  const Runs runs = runs_of(from, to, to);
  using ::testing::ElementsAre;
  EXPECT_THAT(ranges_of(runs, 1000, 4, 1),
              ElementsAre(FileRange{1024, 1032}, FileRange{1044, 1052}, FileRange{1104, 1112}, FileRange{1124, 1132},
                          FileRange{1184, 1192}, FileRange{1204, 1212}));
  EXPECT_THAT(ranges_of(runs, 1000, 4, 13),
              ElementsAre(FileRange{1024, 1052}, FileRange{1104, 1132}, FileRange{1184, 1212}));
  EXPECT_THAT(ranges_of(runs, 1000, 4, 53), ElementsAre(FileRange{1024, 1212}));
}

/// Copies the common part of two random boxes out of a file in pieces of random sizes, and compares.
void check_copy(std::mt19937_64& random, DType stored, DType wanted) {
  std::vector<std::int64_t> shape(random() % 5);
  for (std::int64_t& size : shape) size = 1 + static_cast<std::int64_t>(random() % 6);
  const MadeTensor tensor = testing::random_tensor("t", stored, shape, random);
  const MadeTensor from = cut(tensor, random_box(shape, random));
  const Box to = random_box(shape, random);
  const std::optional<Box> common = intersection(from.box, to);
  if (!common) return;
  const std::uint64_t begin = random() % 100;
  MadeTensor out = testing::blank({"t", wanted, shape}, to);
  RunCopier copier(runs_of(from.box, to, *common), begin, stored, out.bytes.data(), wanted);
  for (std::uint64_t at = 0, size = 0; at < from.bytes.size(); at += size) {
    size = std::min<std::uint64_t>(1 + random() % 40, from.bytes.size() - at);
    copier.copy(begin + at, std::span(from.bytes).subspan(at, size));
  }
  EXPECT_TRUE(copier.is_done());
  const MadeTensor in_common = cut(tensor, *common);
  std::vector<std::byte> expected(in_common.bytes.size() / element_size(stored) * element_size(wanted));
  convert(in_common.bytes, stored, expected, wanted);
  Box within = *common;
  for (std::size_t dim = 0; dim < shape.size(); ++dim) within.offset[dim] -= to.offset[dim];
  out.info.shape = to.size;
  EXPECT_TRUE(testing::same_bytes(cut(out, within).bytes, expected));
}

TEST(RunCopierTest, CopiesTheCommonBoxHoweverTheFileIsCut) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 500; ++i) check_copy(random, DType::i64, DType::i64);
  for (int i = 0; i < 500; ++i) check_copy(random, DType::u8, DType::u8);
}

TEST(RunCopierTest, ConvertsElementsThatAreCutInTwo) {
  std::mt19937_64 random(6);
  for (int i = 0; i < 500; ++i) check_copy(random, DType::f32, DType::bf16);
  for (int i = 0; i < 500; ++i) check_copy(random, DType::bf16, DType::f64);
}

TEST(RunCopierTest, BytesLeftOutAreAMistake) {
  std::array<std::byte, 8> out{};
  RunCopier copier(runs_of(whole({8}), whole({8}), whole({8})), 100, DType::u8, out.data(), DType::u8);
  EXPECT_THROW(copier.copy(104, out), InternalError);
}

}  // namespace
}  // namespace titan::checkpoint
