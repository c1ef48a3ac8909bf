#include "core/app/compare/stored_reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/text.hpp"
#include "tests/unit/app/compare/tables.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan::app {
namespace {

using test::table;
using testing::HasSubstr;
using titan::test::thrown_by;

RunTable read(std::string_view text, const std::vector<std::string>& columns = {"loss"}) {
  return read_stored_reference(text, "ref.json", columns);
}

std::string refusal(std::string_view text) {
  const auto thrown = thrown_by([&] { read(text); });
  EXPECT_EQ(thrown.exit, Exit::data) << text;
  EXPECT_THAT(thrown.message, HasSubstr("ref.json")) << text;
  return thrown.message;
}

TEST(StoredReferenceTest, ReadsWhatItWrites) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  RunTable stored = table("a", {"loss", "grad_norm"}, {{0.1, 1.0 / 3}, {5e-324, nan}, {1.7976931348623157e308, -0.0}});
  stored.settings = {{"training.steps", "3"}, {"dump_folder", "a \"quoted\"\nfolder"}};
  const RunTable back = read(render_reference(stored), {"grad_norm", "loss"});
  ASSERT_EQ(back.rows.size(), 3U);
  EXPECT_EQ(back.rows.at(1), (std::vector<double>{1.0 / 3, 0.1}));
  EXPECT_TRUE(std::isnan(back.rows.at(2)[0]));
  EXPECT_EQ(back.rows.at(2)[1], 5e-324);
  EXPECT_EQ(back.rows.at(3), (std::vector<double>{0, 1.7976931348623157e308}));
  EXPECT_EQ(back.settings, stored.settings);
  EXPECT_TRUE(back.has("loss"));
}

TEST(StoredReferenceTest, HasALineForEachStep) {
  const std::string text = render_reference(table("a", {"loss"}, {{8.5}, {4.25}}));
  EXPECT_THAT(text, HasSubstr("\n    [1, 8.5],\n    [2, 4.25]\n  ]\n}\n"));
  EXPECT_THAT(text, HasSubstr("\"titan\": \""));
  EXPECT_THAT(text, HasSubstr("\"libtorch\": \""));
  EXPECT_THAT(text, HasSubstr("\"columns\": [\"loss\"]"));
  EXPECT_THAT(text, HasSubstr("\"settings\": {}"));
}

TEST(StoredReferenceTest, ReadsTorchtitansLossFiles) {
  const RunTable golden = read("1 8.0490971\n2 7.7518363\n\n  3\t7.0328860  \n4 nan\n");
  ASSERT_EQ(golden.rows.size(), 4U);
  EXPECT_EQ(golden.rows.at(1)[0], 8.0490971);
  EXPECT_EQ(golden.rows.at(3)[0], 7.0328860);
  EXPECT_TRUE(std::isnan(golden.rows.at(4)[0]));
  EXPECT_TRUE(golden.has("loss"));
  EXPECT_FALSE(golden.has("grad_norm"));
}

TEST(StoredReferenceTest, WrongTextIsNamedByLine) {
  EXPECT_THAT(refusal("1 8.0\n2\n"), HasSubstr("ref.json:2: expected a step and a loss, got: \"2\""));
  for (const char* line : {"1 2 3", "x 1", "1 x", "-1 2", "1.5 2", "step: 1  loss: 8"}) {
    EXPECT_THAT(refusal(concat("1 8.0\n", line)), HasSubstr("ref.json:2: expected a step and a loss")) << line;
  }
}

TEST(StoredReferenceTest, WrongJsonIsNamed) {
  const std::string begin = R"({"format": "titan.reference", "version": 1, )";
  EXPECT_THAT(refusal("{\n\"format\""), HasSubstr("ref.json:2:"));
  EXPECT_THAT(refusal("[]"), HasSubstr("\"format\""));
  EXPECT_THAT(refusal("{}"), HasSubstr("\"format\""));
  EXPECT_THAT(refusal(R"({"format": "titan.reference", "version": 2})"), HasSubstr("\"version\": 1"));
  EXPECT_THAT(refusal(begin + R"("rows": []})"), HasSubstr("\"columns\""));
  EXPECT_THAT(refusal(begin + R"("columns": [1], "rows": []})"), HasSubstr("\"columns\""));
  EXPECT_THAT(refusal(begin + R"("columns": ["loss"]})"), HasSubstr("\"rows\""));
  for (const char* row : {"[]", "[1]", "[1, 2, 3]", "[\"1\", 2]", "[-1, 2]", "[1, \"2\"]", "[1.5, 2]", "7", "{}"}) {
    EXPECT_THAT(refusal(concat(begin, R"("columns": ["loss"], "rows": [[1, 2], )", row, "]}")), HasSubstr("row 2"))
        << row;
  }
  for (const char* settings : {"[]", "7", "{\"a\": 1}"}) {
    EXPECT_THAT(refusal(concat(begin, R"("columns": ["loss"], "rows": [], "settings": )", settings, "}")),
                HasSubstr("\"settings\""))
        << settings;
  }
  EXPECT_THAT(refusal(std::string(100, '[')), HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace titan::app
