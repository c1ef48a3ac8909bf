#include "core/data/gzip.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/data/gzip_content.hpp"

namespace titan::data {
namespace {

class GzipTest : public ::testing::Test {
 protected:
  std::string content_of(std::string_view bytes) {
    std::string content;
    gunzip_in_pieces(folder_.write("x.gz", bytes), [&](std::string_view piece) { content += piece; });
    return content;
  }
  std::string refusal(std::string_view bytes) {
    return testing::error_text<DataError>([&] { content_of(bytes); });
  }

  test::TemporaryFolder folder_;
};

TEST_F(GzipTest, GivesTheContentBack) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i * 7919);
  EXPECT_TRUE(content_of(testing::gzip_content(text)) == text);
  const std::string zeros(10'000'000, '0');  // one byte of input gives many of output
  EXPECT_TRUE(content_of(testing::gzip_content(zeros)) == zeros);
  EXPECT_EQ(content_of(testing::gzip_content("")), "");
}

TEST_F(GzipTest, ReadsSeveralMembersAndPadding) {
  const std::string two = testing::gzip_content("ab") + testing::gzip_content("cd");
  EXPECT_EQ(content_of(two), "abcd");
  EXPECT_EQ(content_of(two + std::string(512, '\0')), "abcd");
}

TEST_F(GzipTest, RefusesDamage) {
  const std::string good = testing::gzip_content("some text, some text, some more text");
  for (std::size_t length = 1; length < good.size(); ++length) {
    EXPECT_NE(refusal(good.substr(0, length)).find("cut"), std::string::npos) << length;
  }
  EXPECT_NE(refusal("").find("empty"), std::string::npos);
  EXPECT_NE(refusal("{\"text\":1}").find("not a valid gzip stream"), std::string::npos);
  EXPECT_NE(refusal(good + "more").find("not a valid gzip stream"), std::string::npos);
  std::string flipped = good;
  flipped[good.size() - 6] = static_cast<char>(flipped[good.size() - 6] ^ 1);  // in the checksum
  EXPECT_NE(refusal(flipped).find("not a valid gzip stream"), std::string::npos);
}

TEST_F(GzipTest, NamesAMissingFile) {
  EXPECT_THROW(gunzip_in_pieces(folder_.path() / "none.gz", [](std::string_view) {}), InputError);
}

}  // namespace
}  // namespace titan::data
