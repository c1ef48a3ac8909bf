#include "core/checkpoint/input_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <string>

#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::HasSubstr;
using titan::testing::error_text;

TEST(InputFileTest, Reads) {
  const test::TemporaryFolder folder;
  const InputFile file(folder.write("file", "0123456789"));
  EXPECT_EQ(file.size(), 10U);
  std::string bytes(3, '\0');
  file.read_at(7, bytes);
  EXPECT_EQ(bytes, "789");
  file.read_at(0, bytes);
  EXPECT_EQ(bytes, "012");
  EXPECT_EQ(file.read_all(10), "0123456789");
}

TEST(InputFileTest, RefusesToReadBehindTheEnd) {
  const test::TemporaryFolder folder;
  const InputFile file(folder.write("file", "0123456789"));
  std::string bytes(3, '\0');
  EXPECT_THAT(error_text<DataError>([&] { file.read_at(8, bytes); }), HasSubstr("shorter than expected"));
  EXPECT_THAT(error_text<DataError>([&] { file.read_all(9); }), HasSubstr("10 bytes, limit 9"));
  std::filesystem::resize_file(file.path(), 5);
  EXPECT_THAT(error_text<DataError>([&] { file.read_all(10); }), HasSubstr("shorter than expected"));
}

TEST(InputFileTest, WaitsOnlyForAFileThatMayBeLate) {
  const test::TemporaryFolder folder;
  const auto seconds = [&](const std::string& name) {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THROW(open_patiently(folder / name), InputError);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  EXPECT_GE(seconds("none"), 0.93);
  EXPECT_LT(seconds(std::string(300, 'n')), 0.93) << "no file has so long a name";
}

TEST(InputFileTest, RefusesWhatIsNoFile) {
  const test::TemporaryFolder folder;
  EXPECT_THAT(error_text<InputError>([&] { InputFile(folder / "none"); }), HasSubstr("cannot open file"));
  EXPECT_THAT(error_text<DataError>([&] { InputFile(folder.path()); }), HasSubstr("not a regular file"));
  folder.write("file", "content");
  std::filesystem::create_symlink("file", folder / "link");
  EXPECT_THAT(error_text<DataError>([&] { InputFile(folder / "link"); }), HasSubstr("links are not followed"));
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(error_text<DataError>([&] { InputFile(folder / "fifo"); }), HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace titan::checkpoint
