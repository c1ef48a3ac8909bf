#include "core/app/checkpoint/titan_export.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "core/app/checkpoint/difference.hpp"
#include "core/base/error.hpp"
#include "core/checkpoint/read.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/app/checkpoint/made_checkpoint.hpp"

namespace titan::app {
namespace {

using checkpoint::DType;
using ::testing::IsEmpty;
using testing::Made, testing::MadeCheckpoint;

class TitanExportTest : public ::testing::Test {
 protected:
  TitanExportTest() {
    std::vector<float> values(60);
    std::iota(values.begin(), values.end(), 1.0F);
    made_.add("large", Made<float>{DType::f32, {3, 4, 5}, values});
    made_.add("small", Made<float>{DType::f32, {2}, {1, 2}});
    made_.add("count", Made<std::int64_t>{DType::i64, {}, {42}});
    std::filesystem::create_directories(folder_ / "to");
  }

  checkpoint::Source write(const checkpoint::Source& source, const TitanExport& options) const {
    return checkpoint::open_titan(export_titan(checkpoint::system_calls(), source, folder_ / "to", options));
  }
  static bool are_equal(const checkpoint::Source& a, const checkpoint::Source& b) {
    return compare_checkpoints(a, b, [](std::uint64_t, std::uint64_t) {}).is_equal(std::nullopt);
  }

  test::TemporaryFolder folder_;
  MadeCheckpoint made_{folder_ / "from"};
};

TEST_F(TitanExportTest, ShardsAreBounded) {
  const checkpoint::Source source = made_.save();
  TitanExport options;
  options.step = 5;
  options.most_bytes_a_shard = 64;
  std::vector<std::uint64_t> told;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    told.push_back(done);
    EXPECT_EQ(total, 60U * 4 + 2 * 4 + 8);
  };
  const checkpoint::Source written = write(source, options);
  EXPECT_EQ(written.folder.filename(), "step-5");
  EXPECT_EQ(written.files.size(), 7U) << "two of each matrix of four rows, and one for the rest";
  EXPECT_TRUE(are_equal(source, written));
  EXPECT_THAT(checkpoint::verify(written), IsEmpty());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), 256U);
}

TEST_F(TitanExportTest, AllOfATrainingIsFull) {
  made_.add("optimizer.state.small.exp_avg", Made<float>{DType::f32, {2}, {3, 4}});
  made_.set_train_state({.step = 3, .num_tokens = 99, .schedule_step = 3, .dataloader = "{}"});
  checkpoint::Origin origin;
  origin.world_size = 4;
  origin.module = "m";
  const checkpoint::Source source = made_.save(origin);
  TitanExport options;
  options.step = 3;
  options.origin = source.manifest->origin;
  const checkpoint::Source written = write(source, options);
  EXPECT_EQ(written.manifest->contents, checkpoint::Contents::full);
  EXPECT_EQ(written.manifest->origin, source.manifest->origin);
  EXPECT_EQ(written.train_state, source.train_state);
  EXPECT_NE(written.manifest->save_id, source.manifest->save_id);
  EXPECT_TRUE(are_equal(source, written));
}

TEST_F(TitanExportTest, FloatsGetTheDtypeAndNumbersKeepTheirs) {
  TitanExport options;
  options.dtype = DType::bf16;
  const checkpoint::Source source = made_.save(), written = write(source, options);
  EXPECT_EQ(written.tensors.at("large").dtype, DType::bf16);
  EXPECT_EQ(written.tensors.at("count").dtype, DType::i64);
  EXPECT_TRUE(compare_checkpoints(source, written, [](std::uint64_t, std::uint64_t) {}).is_equal(0))
      << "small whole numbers have a bfloat16";
}

TEST_F(TitanExportTest, AFailureLeavesNothing) {
  const checkpoint::Source source = made_.save();
  std::filesystem::remove(source.folder / "shard-00000-of-00001.safetensors");
  EXPECT_THROW(write(source, {}), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "to"));
}

}  // namespace
}  // namespace titan::app
