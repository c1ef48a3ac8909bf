#include "core/checkpoint/listed_files.hpp"

#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/written_step.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::HasSubstr;
using titan::testing::error_text;

class ListedFilesTest : public ::testing::Test {
 protected:
  ListedFilesTest() {
    step_.add_file("a.json", "content");
    step_.put_manifest();
  }

  test::TemporaryFolder folder_;
  testing::WrittenStep step_{folder_ / "step-3"};
};

TEST_F(ListedFilesTest, KnowsWhatTheManifestLists) {
  const ListedFiles listed(step_.folder());
  EXPECT_EQ(listed.manifest(), step_.manifest);
  ASSERT_NE(listed.find("a.json"), nullptr);
  EXPECT_EQ(listed.find("a.json")->size, 7U);
  EXPECT_EQ(listed.find("b.json"), nullptr);
  EXPECT_EQ(listed.read("a.json", 7), "content");
}

TEST_F(ListedFilesTest, ReadsOnlyWhatWasCommitted) {
  const ListedFiles listed(step_.folder());
  EXPECT_THAT(error_text<DataError>([&] { listed.read("b.json", 7); }), HasSubstr("the manifest lists no b.json"));
  EXPECT_THAT(error_text<DataError>([&] { listed.read("a.json", 6); }), HasSubstr("larger than allowed"));
  step_.put("a.json", "Content");
  EXPECT_THAT(error_text<DataError>([&] { listed.read("a.json", 7); }), HasSubstr("a.json: hash is not the one"));
}

TEST_F(ListedFilesTest, FilesAreThereInTheirSize) {
  step_.put("a.json", "contents");
  EXPECT_THAT(error_text<DataError>([&] { ListedFiles{step_.folder()}; }), HasSubstr("a.json: 8 bytes, not 7"));
  std::filesystem::remove(step_.folder() / "a.json");
  EXPECT_THAT(error_text<DataError>([&] { ListedFiles{step_.folder()}; }), HasSubstr("a file is missing"));
  std::filesystem::remove(step_.folder() / kManifestFile);
  EXPECT_THAT(error_text<InputError>([&] { ListedFiles{step_.folder()}; }), HasSubstr("MANIFEST.json"));
}

}  // namespace
}  // namespace titan::checkpoint
