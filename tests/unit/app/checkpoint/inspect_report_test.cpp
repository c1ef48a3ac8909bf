#include "core/app/checkpoint/inspect_report.hpp"

#include <gmock/gmock.h>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/app/checkpoint/made_checkpoint.hpp"

namespace titan::app {
namespace {

using checkpoint::DType;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::Made;
using ::testing::Not;

class InspectReportTest : public ::testing::Test {
 protected:
  InspectReportTest() { made_.add("w", Made<float>{DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}}); }

  test::TemporaryFolder folder_;
  testing::MadeCheckpoint made_{folder_.path()};
};

TEST_F(InspectReportTest, SaysWhatAStepHolds) {
  made_.add("count", Made<std::int64_t>{DType::i64, {}, {7}});
  made_.add("optimizer.state.w.exp_avg", Made<float>{DType::f32, {2, 3}, {0, 0, 0, 0, 0, 0}});
  made_.add("random_state.rank_00000", Made<std::uint8_t>{DType::u8, {4}, {1, 2, 3, 4}});
  made_.set_train_state({.step = 3, .num_tokens = 99, .schedule_step = 2, .dataloader = std::nullopt});
  checkpoint::Origin origin;
  origin.mesh = "tp 2 = 2 ranks";
  origin.module = "llama3";
  origin.preset = "small";
  origin.plugins = {"llama3 1.0 abc"};
  const std::string text = inspect_text(made_.save(origin), false);
  for (const char* line :
       {"  format       titan\n", "  step         3\n", "  contents     full\n", "  saved by     tp 2 = 2 ranks\n",
        "  model        llama3, small\n", "  plugin       llama3 1.0 abc\n",
        "  train state  step 3, 99 tokens, schedule at step 2, without the place in the data\n",
        "  model        2 tensors, 7 elements, 32 B, 6 of float32, 1 of int64\n",
        "  optimizer    1 tensor, 6 elements, 24 B, float32\n", "  generators   1 tensor, 4 elements, 4 B, uint8\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("exp_avg"))) << "tensors were not asked for";
}

TEST_F(InspectReportTest, ListsTensorsWhenAskedTo) {
  EXPECT_THAT(inspect_text(made_.save(), true), HasSubstr("\n\n  w  float32  [2, 3]  24 B  1 part\n"));
}

TEST_F(InspectReportTest, SaysWhatIsWrongWithSteps) {
  made_.save();
  std::filesystem::create_directory(folder_ / "step-12");
  EXPECT_THAT(inspect_text(locate(folder_.path())),
              AllOf(HasSubstr(": 2 steps\n"), HasSubstr("  step-3   titan  model_only  "), HasSubstr("  newest\n"),
                    HasSubstr("  step-12  -      -           -        not committed: there is no checkpoint in it\n")));
}

TEST_F(InspectReportTest, SumsBytes) {
  const checkpoint::Source source = made_.save();
  const auto shard = std::filesystem::file_size(folder_ / "step-3/shard-00000-of-00001.safetensors");
  EXPECT_EQ(bytes_of_files(source), shard);
  EXPECT_EQ(bytes_of_step(*source.manifest), shard + std::filesystem::file_size(folder_ / "step-3/index.json"));
}

}  // namespace
}  // namespace titan::app
