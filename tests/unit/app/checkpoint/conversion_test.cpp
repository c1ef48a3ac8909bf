#include "core/app/checkpoint/conversion.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/app/checkpoint/difference.hpp"
#include "core/app/checkpoint/located.hpp"
#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/app/checkpoint/made_checkpoint.hpp"

namespace titan::app {
namespace {

using checkpoint::DType, checkpoint::Format, checkpoint::Source;
using ::testing::HasSubstr;
using testing::Made, testing::MadeCheckpoint;
using titan::testing::error_text;
namespace fs = std::filesystem;

class ConversionTest : public ::testing::Test {
 protected:
  ConversionTest() {
    made_.add("w", Made<float>{DType::f32, {2, 2}, {1, 2, 3, 4}});
    made_.add("optimizer.state.w.exp_avg", Made<float>{DType::f32, {2, 2}, {5, 6, 7, 8}});
    made_.set_train_state({.step = 3, .num_tokens = 99, .schedule_step = 3, .dataloader = std::nullopt});
  }

  Conversion to(const fs::path& target, Format format) const {
    Conversion conversion;
    conversion.target = folder_ / target;
    conversion.format = format;
    return conversion;
  }
  std::string refusal(const Source& source, const fs::path& target) const {
    return error_text<CreateError>([&] { convert(source, to(target, Format::dcp)); });
  }
  static bool are_equal(const Source& a, const Source& b) {
    return compare_checkpoints(a, b, [](std::uint64_t, std::uint64_t) {}).is_equal(std::nullopt);
  }

  test::TemporaryFolder folder_;
  MadeCheckpoint made_{folder_ / "from"};
};

TEST_F(ConversionTest, AllOfATrainingGoesThereAndBack) {
  const Source source = made_.save();
  convert(source, to("dcp", Format::dcp));
  const Source dcp = open_checkpoint(folder_ / "dcp");
  EXPECT_EQ(dcp.format, Format::dcp);
  convert(dcp, to("step-3", Format::titan));
  const Source back = open_checkpoint(folder_ / "step-3");
  EXPECT_TRUE(are_equal(source, back));
  EXPECT_EQ(back.manifest->contents, checkpoint::Contents::full);
  EXPECT_EQ(back.train_state->num_tokens, 99);
}

TEST_F(ConversionTest, ADtypeIsForTheModelAlone) {
  Conversion conversion = to("model", Format::dcp);
  conversion.dtype = DType::bf16;
  convert(made_.save(), conversion);
  const Source model = open_checkpoint(folder_ / "model");
  ASSERT_EQ(model.tensors.size(), 1U);
  EXPECT_EQ(model.tensors.at("w").dtype, DType::bf16);
  EXPECT_FALSE(model.train_state);
}

TEST_F(ConversionTest, FilesOfTheHubHaveTheModelUnderItsNames) {
  const std::vector<checkpoint::HubName> names{{"w", "model.w.weight"}};
  Conversion conversion = to("hub", Format::hugging_face);
  conversion.names = names;
  convert(made_.save(), conversion);
  EXPECT_TRUE(open_checkpoint(folder_ / "hub").tensors.contains("model.w.weight"));
}

TEST_F(ConversionTest, AFolderOfAnotherStepIsRefused) {
  EXPECT_THAT(refusal(made_.save(), "step-4"), HasSubstr("the target's name is of another step: "));
  EXPECT_FALSE(fs::exists(folder_ / "step-4"));
}

TEST_F(ConversionTest, NothingIsWrittenIntoTheSource) {
  const Source source = made_.save();
  fs::create_directory_symlink(folder_ / "from/step-3", folder_ / "link");
  const auto entries = [&] { return std::distance(fs::directory_iterator(source.folder), fs::directory_iterator()); };
  const auto before = entries();
  for (const char* target : {"from/step-3/hub", "from/step-3", "from/step-3/../step-3/hub", "link/hub"}) {
    EXPECT_THAT(refusal(source, target), HasSubstr("one of source and target is inside the other: ")) << target;
  }
  EXPECT_EQ(entries(), before);
  Source linked = source;
  linked.folder = folder_ / "link";
  EXPECT_THAT(refusal(linked, "from/step-3/hub"), HasSubstr("is inside the other: "));
  convert(source, to("from/step-3x", Format::dcp));
  EXPECT_TRUE(fs::exists(folder_ / "from/step-3x/.metadata")) << "a longer name is another folder";
}

TEST_F(ConversionTest, NothingIsWrittenAroundTheSource) {
  EXPECT_THAT(refusal(made_.save(), "from"), HasSubstr("is inside the other: "));
  EXPECT_TRUE(fs::exists(folder_ / "from/step-3/MANIFEST.json"));
}

}  // namespace
}  // namespace titan::app
