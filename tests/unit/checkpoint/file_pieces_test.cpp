#include "core/checkpoint/file_pieces.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/base/temporary_folder.hpp"

namespace titan::checkpoint {
namespace {

std::string content(std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(i * 31 % 251);
  return bytes;
}

TEST(FilePiecesTest, HoldTheRangesInOrder) {
  const test::TemporaryFolder folder;
  const std::string bytes = content(100'000);
  const InputFile file(folder.write("file", bytes));
  FilePieces pieces(file, {{0, 4096}, {8192, 28'672}, {40'960, 40'960}, {98'304, 100'000}}, 8192);
  const std::vector<FileRange> expected = {
      {0, 4096}, {8192, 16'384}, {16'384, 24'576}, {24'576, 28'672}, {98'304, 100'000}};
  for (const FileRange& range : expected) {
    const Piece* const piece = pieces.next();
    ASSERT_NE(piece, nullptr);
    EXPECT_EQ(piece->begin, range.begin);
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(piece->memory.data()), piece->size),
              std::string_view(bytes).substr(range.begin, range.end - range.begin));
  }
  EXPECT_EQ(pieces.next(), nullptr);
}

TEST(FilePiecesTest, NoRangesAreNoPieces) {
  const test::TemporaryFolder folder;
  const InputFile file(folder.write("file", ""));
  EXPECT_EQ(FilePieces(file, {}, 8192).next(), nullptr);
  EXPECT_EQ(FilePieces(file, {{0, 0}}, 8192).next(), nullptr);
}

TEST(FilePiecesTest, AFileThatEndsEarlyIsWrongData) {
  const test::TemporaryFolder folder;
  const InputFile file(folder.write("file", content(5000)));
  FilePieces pieces(file, {{0, 8192}}, 8192);
  EXPECT_THAT(titan::testing::error_text<DataError>([&] { pieces.next(); }),
              ::testing::AllOf(::testing::HasSubstr((folder / "file").string()), ::testing::HasSubstr("ends at 5000")));
}

}  // namespace
}  // namespace titan::checkpoint
