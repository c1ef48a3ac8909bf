#include "core/data/json_line.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/thrown_text.hpp"

namespace titan::data {
namespace {

std::string refusal(std::string_view line) {
  return testing::error_text<std::invalid_argument>([&] { text_of_json_line(line); });
}

TEST(JsonLine, TakesTheText) {
  EXPECT_EQ(text_of_json_line(R"({"text":"a\n\u00e9\ud83d\ude00\u0000"})"),
            std::string("a\n\xC3\xA9\xF0\x9F\x98\x80\0", 9));
  EXPECT_EQ(text_of_json_line(R"( { "id" : [1,{"text":"no"}], "text" : "" , "more" : {"text": 3} } )"), "");
  EXPECT_EQ(text_of_json_line(R"({"text":"a","text":"b"})"), "b");
}

TEST(JsonLine, SaysWhatIsWrong) {
  EXPECT_NE(refusal("").find("column 1"), std::string::npos);
  EXPECT_NE(refusal("{\"text\": \"abc").find("column 14"), std::string::npos);
  EXPECT_NE(refusal("{\"text\":\"a\"} x").find("column 14"), std::string::npos);
  EXPECT_NE(refusal("{\"text\":\"\xFF\"}").find("UTF-8"), std::string::npos);
  EXPECT_NE(refusal("{\"text\":\"\\ud800\"}").find("surrogate"), std::string::npos);
  EXPECT_NE(refusal("{\"text\":\"a\tb\"}").find("column 11"), std::string::npos);
  EXPECT_NE(refusal("{\"txt\":\"a\"}").find("no member \"text\""), std::string::npos);
  EXPECT_NE(refusal("{\"text\":null}").find("not a string: found null"), std::string::npos);
  EXPECT_NE(refusal("{\"text\":[\"a\"]}").find("not a string: found an array"), std::string::npos);
  EXPECT_NE(refusal("{\"text\":{\"text\":\"a\"}}").find("not a string: found an object"), std::string::npos);
  EXPECT_NE(refusal("[\"a\"]").find("found an array"), std::string::npos);
  EXPECT_NE(refusal("\"a\"").find("found a string"), std::string::npos);
  EXPECT_NE(refusal("7").find("found a number"), std::string::npos);
}

TEST(JsonLine, BoundsDepth) {
  EXPECT_NE(refusal("{\"a\":" + std::string(100'000, '[')).find("nested too deeply"), std::string::npos);
}

}  // namespace
}  // namespace titan::data
