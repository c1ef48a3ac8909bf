#include "core/checkpoint/whole_hash.hpp"

#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::HasSubstr;

TEST(WholeHashTest, HashesAFileUntilItWasRight) {
  const test::TemporaryFolder folder;
  const std::string content(9'000'001, 'c');
  const WholeHash hash(hash128(content));
  std::uint64_t read = 0;
  const auto require = [&] { hash.require(InputFile(folder / "file"), [&](std::uint64_t bytes) { read += bytes; }); };
  folder.write("file", content.substr(1) + 'd');
  EXPECT_THAT(titan::testing::error_text<DataError>(require), HasSubstr("damaged file: " + (folder / "file").string()));
  EXPECT_FALSE(hash.was_right());
  folder.write("file", content);
  read = 0;
  require();
  EXPECT_TRUE(hash.was_right());
  EXPECT_EQ(read, content.size());
  require();
  EXPECT_EQ(read, content.size()) << "it was right before";
}

TEST(WholeHashTest, AnEmptyFileHasAHashToo) {
  const test::TemporaryFolder folder;
  folder.write("file", "");
  const auto ignore = [](std::uint64_t) {};
  EXPECT_NO_THROW(WholeHash(hash128("")).require(InputFile(folder / "file"), ignore));
  EXPECT_THROW(WholeHash(hash128("a")).require(InputFile(folder / "file"), ignore), DataError);
}

}  // namespace
}  // namespace titan::checkpoint
