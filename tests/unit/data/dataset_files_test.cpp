#include "core/data/dataset_files.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::data {
namespace {

namespace fs = std::filesystem;

class DatasetFilesTest : public ::testing::Test {
 protected:
  std::vector<std::string> names() {
    std::vector<std::string> result;
    for (const DatasetFile& file : find_dataset_files(folder_.path())) {
      result.push_back(file.path.lexically_relative(folder_.path()).generic_string());
    }
    return result;
  }

  test::TemporaryFolder folder_;
};

TEST_F(DatasetFilesTest, ListsFilesAtAnyDepthInOrder) {
  for (const char* name :
       {"b.txt", "a/z.jsonl", "a/b/c.jsonl.gz", "C.txt", ".hidden.txt", ".git/x.txt", "notes.md", "a.json"}) {
    folder_.write(name, "x");
  }
  EXPECT_EQ(names(), (std::vector<std::string>{"C.txt", "a/b/c.jsonl.gz", "a/z.jsonl", "b.txt"}));
}

TEST_F(DatasetFilesTest, KnowsTheKindByTheName) {
  EXPECT_EQ(find_dataset_files(folder_.write("a.jsonl", "")).at(0).kind, FileKind::json_lines);
  EXPECT_EQ(find_dataset_files(folder_.write("a.jsonl.gz", "")).at(0).kind, FileKind::compressed_json_lines);
  EXPECT_EQ(find_dataset_files(folder_.write("a.txt", "")).at(0).kind, FileKind::text);
}

TEST_F(DatasetFilesTest, NamesWhatIsNotThere) {
  const auto refusal = [](const fs::path& path) {
    return testing::error_text<InputError>([&] { find_dataset_files(path); });
  };
  EXPECT_NE(refusal(folder_.path() / "none").find("no such file or folder"), std::string::npos);
  EXPECT_NE(refusal(folder_.path()).find("no file of .jsonl, .jsonl.gz or .txt"), std::string::npos);
  EXPECT_NE(refusal(folder_.write("a.json", "x")).find("ends in .jsonl, .jsonl.gz or .txt"), std::string::npos);
  EXPECT_NE(refusal(folder_.path() / "a.json" / "b").find("no such file"), std::string::npos);
  EXPECT_NE(refusal("/dev/null").find("not a data set"), std::string::npos);
}

TEST_F(DatasetFilesTest, FollowsLinksToFilesInsideOnly) {
  const test::TemporaryFolder other;
  folder_.write("blobs/1234", "x");
  fs::create_symlink("blobs/1234", folder_.path() / "a.txt");
  fs::create_directory_symlink(folder_.path(), folder_.path() / "loop");
  EXPECT_EQ(names(), std::vector<std::string>{"a.txt"});
  fs::create_symlink(other.write("secret.txt", "x"), folder_.path() / "b.txt");
  EXPECT_NE(testing::error_text<DataError>([&] { names(); }).find("leads out of it"), std::string::npos);
  EXPECT_EQ(find_dataset_files(folder_.path() / "b.txt").size(), 1U);  // named by the user himself
}

TEST_F(DatasetFilesTest, DanglingLinksAreNoFiles) {
  fs::create_symlink("nowhere", folder_.path() / "a.txt");
  EXPECT_THROW(names(), InputError);
}

}  // namespace
}  // namespace titan::data
