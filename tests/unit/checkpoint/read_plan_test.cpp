#include "core/checkpoint/read_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/made_tensor.hpp"

namespace titan::checkpoint {
namespace {

using testing::blank;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MadeTensor;
using testing::whole;

constexpr std::uint64_t kMiB = 1U << 20U;

/// One file of 64 MiB that holds "w", 1024 rows of 60 KiB, from 4 KiB on.
Source one_file(std::uint64_t block_size) {
  Source source;
  source.folder = "folder";
  source.files = {{"a.safetensors", 64 * kMiB, block_size, {}}};
  if (block_size != 0) source.files[0].block_hashes.resize(64 * kMiB / block_size);
  source.tensors["w"] = {DType::f32, {1024, 15'360}, {{whole({1024, 15'360}), 0, 4096}}};
  return source;
}

std::vector<FileRange> ranges(const Source& source, const Box& box) {
  const WantedPart want{{"w", DType::f32, {1024, 15'360}}, box, nullptr};
  return ReadPlan(source, {&want, 1}).files()[0].ranges;
}

TEST(ReadPlanTest, ReadsTheBlocksThatHoldWhatIsWanted) {
  const Source source = one_file(kMiB);
  EXPECT_THAT(ranges(source, {{0, 0}, {1, 1}}), ElementsAre(FileRange{0, kMiB}));
  // Row 34 lies on both sides of a block's end.
  EXPECT_THAT(ranges(source, {{34, 0}, {1, 15'360}}), ElementsAre(FileRange{kMiB, 3 * kMiB}));
  EXPECT_THAT(ranges(source, {{0, 0}, {1024, 1}}), ElementsAre(FileRange{0, 60 * kMiB}));
  EXPECT_THAT(ranges(source, {{1000, 0}, {24, 1}}), ElementsAre(FileRange{58 * kMiB, 60 * kMiB}));
}

TEST(ReadPlanTest, SkipsBlocksBetweenRuns) {
  Source source = one_file(kMiB);
  // The same bytes as 4 rows of 15 MiB: the begin of each is in another block.
  source.tensors["w"] = {DType::f32, {4, 3'932'160}, {{whole({4, 3'932'160}), 0, 4096}}};
  const WantedPart want{{"w", DType::f32, {4, 3'932'160}}, {{0, 0}, {4, 10}}, nullptr};
  const ReadPlan plan(source, {&want, 1});
  EXPECT_THAT(plan.files()[0].ranges, ElementsAre(FileRange{0, kMiB}, FileRange{15 * kMiB, 16 * kMiB},
                                                  FileRange{30 * kMiB, 31 * kMiB}, FileRange{45 * kMiB, 46 * kMiB}));
  EXPECT_EQ(plan.total(), 4 * kMiB);
}

TEST(ReadPlanTest, WithoutBlocksReadsPagesAndWhatIsNear) {
  const Source source = one_file(0);
  EXPECT_THAT(ranges(source, {{0, 0}, {1, 1}}), ElementsAre(FileRange{4096, 8192}));
  EXPECT_THAT(ranges(source, {{0, 0}, {4, 1}}), ElementsAre(FileRange{4096, 4096 + 3 * 61'440 + 4096}));
  std::vector<WantedPart> far;
  for (const std::int64_t row : {0, 3, 100}) {
    far.push_back({{"w", DType::f32, {1024, 15'360}}, {{row, 0}, {1, 1}}, nullptr});
  }
  EXPECT_THAT(ReadPlan(source, far).files()[0].ranges,
              ElementsAre(FileRange{4096, 4096 + 3 * 61'440 + 4096},
                          FileRange{4096 + 100 * 61'440, 4096 + 100 * 61'440 + 4096}));
}

TEST(ReadPlanTest, EndsWithTheFile) {
  Source source = one_file(kMiB);
  source.files[0].size = 4096 + 60 * kMiB;
  source.files[0].block_hashes.resize(61);
  EXPECT_THAT(ranges(source, {{1023, 15'359}, {1, 1}}), ElementsAre(FileRange{60 * kMiB, 60 * kMiB + 4096}));
  source = one_file(0);
  source.files[0].size = 4096 + 60 * kMiB;
  EXPECT_THAT(ranges(source, {{1023, 15'359}, {1, 1}}), ElementsAre(FileRange{60 * kMiB, 60 * kMiB + 4096}));
}

TEST(ReadPlanTest, NothingWantedIsNothingRead) {
  const ReadPlan plan(one_file(kMiB), {});
  EXPECT_TRUE(plan.files()[0].ranges.empty());
  EXPECT_EQ(plan.total(), 0U);
  EXPECT_TRUE(ranges(one_file(kMiB), {{0, 0}, {0, 15'360}}).empty());
}

TEST(ReadPlanTest, RefusesPartsThatDoNotLieInTheirFile) {
  Source source = one_file(kMiB);
  StoredPart& part = source.tensors["w"].parts[0];
  const auto text = [&] { return titan::testing::error_text<DataError>([&] { ranges(source, {{0, 0}, {1, 1}}); }); };
  part.begin = 4 * kMiB + 1;
  EXPECT_THAT(text(), HasSubstr("does not lie in its tensor or file: folder: w"));
  part.begin = ~std::uint64_t{0};
  EXPECT_THAT(text(), HasSubstr("w"));
  part = {whole({1024, 15'361}), 0, 4096};
  EXPECT_THAT(text(), HasSubstr("w"));
  part = {whole({1024}), 0, 4096};
  EXPECT_THAT(text(), HasSubstr("w"));
  part = {whole({1024, 15'360}), 1, 4096};
  EXPECT_THAT(text(), HasSubstr("w"));
}

TEST(ReadPlanTest, RefusesATensorWithAGap) {
  Source source = one_file(kMiB);
  source.tensors["w"].parts[0].box = {{1, 0}, {1023, 15'360}};
  EXPECT_THAT(titan::testing::error_text<DataError>([&] {
                ranges(source, {{0, 0}, {2, 1}});
              }),
              HasSubstr("do not make the whole: folder: w"));
}

TEST(ReadPlanTest, RefusesHashesThatDoNotFitTheFile) {
  Source source = one_file(kMiB);
  source.files[0].block_hashes.pop_back();
  EXPECT_THAT(titan::testing::error_text<DataError>([&] {
                ranges(source, {{0, 0}, {1, 1}});
              }),
              HasSubstr("a.safetensors"));
}

}  // namespace
}  // namespace titan::checkpoint
