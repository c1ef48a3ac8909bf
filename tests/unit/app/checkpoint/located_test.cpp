#include "core/app/checkpoint/located.hpp"

#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/app/checkpoint/made_checkpoint.hpp"

namespace titan::app {
namespace {

using checkpoint::Format;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using titan::testing::error_text;
namespace fs = std::filesystem;

class LocatedTest : public ::testing::Test {
 protected:
  LocatedTest() {
    made_.add("w", testing::Made<float>{checkpoint::DType::f32, {2}, {1, 2}});
    made_.save();
  }

  test::TemporaryFolder folder_;
  testing::MadeCheckpoint made_{folder_ / "steps"};
};

TEST_F(LocatedTest, ACheckpointIsOne) {
  const Located located = locate(folder_ / "steps/step-3/");
  EXPECT_EQ(located.format, Format::titan);
  EXPECT_EQ(located.folder.filename(), "step-3");
  EXPECT_THAT(located.steps, IsEmpty());
  EXPECT_EQ(choose_checkpoint(folder_ / "steps/step-3"), folder_ / "steps/step-3");
}

TEST_F(LocatedTest, StepsAreListedAndTheNewestThatCountsIsChosen) {
  fs::create_directories(folder_ / "steps/step-10");
  fs::create_directories(folder_ / "steps/step-9");
  std::ofstream(folder_ / "steps/step-9/.metadata") << "x";
  const Located located = locate(folder_ / "steps");
  ASSERT_EQ(located.steps.size(), 3U);
  EXPECT_EQ(located.steps[0].step, 3);
  EXPECT_EQ(located.steps[0].manifest->step, 3);
  EXPECT_EQ(located.steps[1].format, Format::dcp);
  EXPECT_FALSE(located.steps[1].manifest);
  EXPECT_EQ(located.steps[2].problem, "there is no checkpoint in it");
  EXPECT_EQ(located.newest(), &located.steps[1]) << "what others wrote has no marker";
  EXPECT_EQ(choose_checkpoint(folder_ / "steps"), folder_ / "steps/step-9");
}

TEST_F(LocatedTest, AStepThatLostItsManifestIsStillOne) {
  fs::remove(folder_ / "steps/step-3/MANIFEST.json");
  const Located located = locate(folder_ / "steps");
  EXPECT_EQ(located.steps[0].format, Format::titan);
  EXPECT_EQ(located.steps[0].problem, "it has no MANIFEST.json");
  EXPECT_EQ(located.newest(), nullptr);
  EXPECT_THAT(error_text<InputError>([&] { choose_checkpoint(folder_ / "steps"); }),
              HasSubstr("no step is committed in the folder: "));
  EXPECT_THAT(error_text<DataError>([&] { locate(folder_ / "steps/step-3"); }),
              HasSubstr("the manifest of a step is missing: "));
  fs::remove(folder_ / "steps/step-3/index.json");
  EXPECT_EQ(locate(folder_ / "steps").steps[0].format, Format::titan) << "shards are enough";
}

TEST_F(LocatedTest, WhatIsNothingIsRefused) {
  folder_.write("file", "");
  fs::create_directories(folder_ / "empty");
  EXPECT_THAT(error_text<InputError>([&] { locate(folder_ / "none"); }), HasSubstr("there is no such folder: "));
  EXPECT_THAT(error_text<InputError>([&] { locate(folder_ / "file"); }), HasSubstr("there is no such folder: "));
  EXPECT_THAT(error_text<InputError>([&] { locate(folder_ / "empty"); }),
              HasSubstr("neither a checkpoint nor a folder with steps: "));
}

TEST_F(LocatedTest, SlashesAtTheEndSayNothing) {
  EXPECT_EQ(folder_of("a/b/"), "a/b");
  EXPECT_EQ(folder_of("a/b"), "a/b");
  EXPECT_EQ(folder_of("/"), "/");
}

TEST_F(LocatedTest, EveryFormatIsOpenedAndNamed) {
  EXPECT_EQ(open_checkpoint(folder_ / "steps/step-3").format, Format::titan);
  EXPECT_EQ(format_name(Format::titan), "titan");
  EXPECT_EQ(format_name(Format::hugging_face), "hugging_face");
  EXPECT_EQ(format_name(Format::dcp), "dcp");
  EXPECT_THROW(open_checkpoint(folder_ / "steps"), InputError);
}

}  // namespace
}  // namespace titan::app
