#include "core/data/document_index.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::data {
namespace {

using Starts = std::vector<std::uint64_t>;
using Split = DocumentIndexer::Split;

/// The starts found when the content comes in pieces of `size` bytes.
Starts index(std::string_view content, Split split, std::size_t size) {
  DocumentIndexer indexer("f", split, 1000);
  for (std::size_t at = 0; at < content.size(); at += size) indexer.feed(content.substr(at, size));
  EXPECT_EQ(indexer.size(), content.size());
  return indexer.finish();
}

TEST(DocumentIndex, FindsLinesInPiecesOfAnySize) {
  const std::string_view content = "{a}\n\n  \t\r\n{b}\r\n{c}";
  for (std::size_t size = 1; size <= content.size(); ++size) {
    EXPECT_EQ(index(content, Split::lines, size), (Starts{0, 10, 15})) << size;
  }
  EXPECT_EQ(index("", Split::lines, 1), Starts{});
  EXPECT_EQ(index("\n\r\n \n", Split::lines, 1), Starts{});
}

TEST(DocumentIndex, TakesAMarkAtTheBeginForBlank) {
  for (std::size_t size = 1; size <= 4; ++size) {
    EXPECT_EQ(index("\xEF\xBB\xBF\nx\n", Split::lines, size), Starts{4}) << size;
    EXPECT_EQ(index("\xEF\xBB\xBFx\ny", Split::lines, size), (Starts{0, 5})) << size;
    EXPECT_EQ(index("x\n\xEF\xBB\xBF\n", Split::lines, size), (Starts{0, 2})) << size;
    EXPECT_EQ(index("\xEF\xBB\xBF\n", Split::whole_file, size), Starts{}) << size;
  }
}

TEST(DocumentIndex, AFileMayBeOneDocument) {
  EXPECT_EQ(index("a\n\nb\n", Split::whole_file, 2), Starts{0});
  EXPECT_EQ(index(" \n\t\r\n", Split::whole_file, 2), Starts{});
}

TEST(DocumentIndex, RefusesLongDocuments) {
  DocumentIndexer lines("f", Split::lines, 4);
  lines.feed("1234\n12\n12");
  EXPECT_EQ(testing::error_text<DataError>([&] { lines.feed("345"); }), "[data] f:3: document too long: limit 4 bytes");
  DocumentIndexer blanks("f", Split::lines, 4);
  blanks.feed("          \n1234");
  EXPECT_EQ(blanks.finish(), Starts{11});
}

}  // namespace
}  // namespace titan::data
