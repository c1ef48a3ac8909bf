#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/app/checkpoint/inspect_report.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/app/checkpoint/made_checkpoint.hpp"

namespace titan::app {
namespace {

using checkpoint::DType;
using nlohmann::json;
using testing::Made;

class InspectJsonTest : public ::testing::Test {
 protected:
  InspectJsonTest() { made_.add("w", Made<float>{DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}}); }

  test::TemporaryFolder folder_;
  testing::MadeCheckpoint made_{folder_.path()};
};

TEST_F(InspectJsonTest, HasAllOfACheckpoint) {
  made_.set_train_state({.step = 3, .num_tokens = 99, .schedule_step = 2, .dataloader = "{}"});
  checkpoint::Origin origin;
  origin.world_size = 4;
  origin.config = {{"model.dim", "64"}};
  const checkpoint::Source source = made_.save(origin);
  const json found = json::parse(inspect_json(source, true));
  EXPECT_EQ(found["format"], "titan");
  EXPECT_EQ(found["path"], source.folder.native());
  EXPECT_EQ(found["manifest"]["contents"], "full");
  EXPECT_EQ(found["manifest"]["save_id"], source.manifest->save_id);
  EXPECT_EQ(found["manifest"]["world_size"], 4);
  EXPECT_EQ(found["manifest"]["config"]["model.dim"], "64");
  EXPECT_EQ(found["manifest"]["files"].size(), source.manifest->files.size());
  EXPECT_EQ(found["train_state"],
            (json{{"step", 3}, {"num_tokens", 99}, {"schedule_step", 2}, {"has_dataloader", true}}));
  EXPECT_EQ(found["size"], bytes_of_files(source));
  EXPECT_EQ(found["tensors"],
            (json::array({{{"name", "w"}, {"dtype", "float32"}, {"shape", {2, 3}}, {"size", 24}, {"num_parts", 1}}})));
}

TEST_F(InspectJsonTest, TensorsAreThereWhenAskedFor) {
  const json found = json::parse(inspect_json(made_.save(), false));
  EXPECT_FALSE(found.contains("tensors"));
  EXPECT_FALSE(found.contains("train_state"));
  EXPECT_EQ(found["num_tensors"], 1);
}

TEST_F(InspectJsonTest, HasTheStepsOfAFolder) {
  const checkpoint::Source source = made_.save();
  std::filesystem::create_directory(folder_ / "step-12");
  const json found = json::parse(inspect_json(locate(folder_.path())));
  EXPECT_EQ(found["newest"], 3);
  EXPECT_EQ(found["steps"][0]["is_committed"], true);
  EXPECT_EQ(found["steps"][0]["size"], bytes_of_step(*source.manifest));
  EXPECT_EQ(found["steps"][1]["is_committed"], false);
  EXPECT_EQ(found["steps"][1]["problem"], "there is no checkpoint in it");
  EXPECT_FALSE(found["steps"][1].contains("format"));
}

TEST_F(InspectJsonTest, NamesThatAreNoTextAreStillJson) {
  testing::MadeCheckpoint made(folder_ / "odd\xff");
  made.add("w", Made<float>{DType::f32, {1}, {1}});
  EXPECT_EQ(json::parse(inspect_json(made.save(), false))["format"], "titan");
}

}  // namespace
}  // namespace titan::app
