#include "core/launch/line_splitter.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace titan::launch {
namespace {

using Lines = std::vector<std::string>;

/// The lines of a text that comes in pieces of `size` bytes.
Lines lines_of(std::string_view text, std::size_t size) {
  Lines lines;
  LineSplitter splitter;
  const LineSplitter::Sink sink = [&](std::string_view line) { lines.emplace_back(line); };
  for (std::size_t at = 0; at < text.size(); at += size) splitter.add(text.substr(at, size), sink);
  splitter.finish(sink);
  return lines;
}

TEST(LineSplitter, HoweverTheBytesCome) {
  for (std::size_t size = 1; size < 12; ++size) {
    EXPECT_EQ(lines_of("one\ntwo\r\n\nlast", size), (Lines{"one", "two", "", "last"})) << size;
  }
}

TEST(LineSplitter, NothingIsNoLine) { EXPECT_EQ(lines_of("", 1), Lines{}); }

TEST(LineSplitter, ALineStaysUntilItIsWhole) {
  LineSplitter splitter;
  Lines lines;
  const LineSplitter::Sink sink = [&](std::string_view line) { lines.emplace_back(line); };
  splitter.add("half", sink);
  EXPECT_EQ(lines, Lines{});
  splitter.add(" and half\n", sink);
  EXPECT_EQ(lines, Lines{"half and half"});
}

TEST(LineSplitter, LongLinesAreCutOnce) {
  const std::string text = std::string(LineSplitter::kLongestLine + 100000, 'x') + "\nnext\n";
  for (const std::size_t size : {std::size_t{1000}, text.size()}) {
    const Lines lines = lines_of(text, size);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].substr(LineSplitter::kLongestLine), " ... (100000 more bytes)");
    EXPECT_EQ(lines[1], "next");
  }
}

TEST(LineSplitter, ALineOfTheLimitIsWhole) {
  const std::string text(LineSplitter::kLongestLine, 'x');
  EXPECT_EQ(lines_of(text + "\n", 4096), Lines{text});
}

}  // namespace
}  // namespace titan::launch
