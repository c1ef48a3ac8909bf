#include "core/base/json_field.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/thrown_text.hpp"

namespace titan {
namespace {

using nlohmann::json;

template <class Action>
std::string fails(const Action& action) {
  return testing::error_text<DataError>(action);
}

TEST(JsonField, ReadsValues) {
  const json value = {{"a", {{"b", {1, -2, "x"}}}}, {"t", true}, {"f", 1.5}, {"n", nullptr}};
  const JsonField root(value, "tag", "file.json");
  EXPECT_EQ(root.at("a").at("b").items()[1].integer(-5, 5), -2);
  EXPECT_EQ(root.at("a").at("b").items()[2].text(), "x");
  EXPECT_TRUE(root.at("t").boolean());
  EXPECT_EQ(root.at("f").number(), 1.5);
  EXPECT_TRUE(root.has("t"));
  EXPECT_FALSE(root.has("n"));
  EXPECT_FALSE(root.has("z"));
  EXPECT_TRUE(root.boolean_or("z", true));
  EXPECT_TRUE(root.boolean_or("t", false));
  EXPECT_EQ(root.members().size(), 4U);
  EXPECT_EQ(root.members()[0].first, "a");
}

TEST(JsonField, NamesFileAndPlaceInErrors) {
  const json value = {{"a", {{"b", {1, "x"}}}}};
  const JsonField root(value, "tag", "file.json");
  EXPECT_EQ(fails([&] { root.at("z"); }), "[tag] file.json: missing field: \"z\"");
  EXPECT_EQ(fails([&] { root.at("a").at("b").items()[1].integer(0, 1); }),
            "[tag] file.json: a.b[1]: expected a whole number: found string");
  EXPECT_EQ(fails([&] { root.at("a").text(); }), "[tag] file.json: a: expected a string: found object");
  EXPECT_EQ(fails([&] { root.at("a").at("b").at("c"); }), "[tag] file.json: a.b: expected an object: found array");
  EXPECT_EQ(fails([&] { root.at("a").items(); }), "[tag] file.json: a: expected an array: found object");
  EXPECT_EQ(fails([&] { root.at("a").boolean(); }), "[tag] file.json: a: expected true or false: found object");
}

TEST(JsonField, BoundsNumbers) {
  const json value = {UINT64_MAX, INT64_MIN, 1.0, 7};
  const std::vector<JsonField> items = JsonField(value, "tag", "f").items();
  EXPECT_NE(fails([&] { items[0].integer(0, INT64_MAX); }).find("out of range: 18446744073709551615"),
            std::string::npos);
  EXPECT_NE(fails([&] { items[1].integer(0, INT64_MAX); }).find("out of range"), std::string::npos);
  EXPECT_NE(fails([&] { items[2].integer(0, INT64_MAX); }).find("whole number"), std::string::npos);
  EXPECT_NE(fails([&] { items[3].integer(0, 6); }).find("allowed 0 to 6"), std::string::npos);
}

}  // namespace
}  // namespace titan
