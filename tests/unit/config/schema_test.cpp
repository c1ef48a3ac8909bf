#include "core/config/schema.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/config/option_builder.hpp"
#include "tests/unit/config/sample_registry.hpp"

namespace titan::config {
namespace {

using nlohmann::json;

class SchemaTest : public ::testing::Test {
 protected:
  const json& property(const std::string& section, const std::string& key) const {
    return schema_.at("properties").at(section).at("properties").at(key);
  }

  const Registry registry_ = test::sample_registry();
  const json schema_ = json::parse(render_schema(registry_));
};

TEST_F(SchemaTest, HasEveryOption) {
  EXPECT_EQ(schema_.at("$schema"), "https://json-schema.org/draft/2020-12/schema");
  for (const Option* option : registry_.options("")) {
    const json::json_pointer section("/properties/" + std::string(section_of(option->name)));
    const json& properties =
        section_of(option->name).empty() ? schema_.at("properties") : schema_.at(section).at("properties");
    EXPECT_TRUE(properties.contains(std::string(key_of(option->name)))) << option->name;
  }
}

TEST_F(SchemaTest, UnknownKeysAreErrors) {
  EXPECT_EQ(schema_.at("additionalProperties"), false);
  EXPECT_EQ(schema_.at("properties").at("training").at("additionalProperties"), false);
}

TEST_F(SchemaTest, TypesRangesAndChoices) {
  EXPECT_EQ(property("sample", "count"),
            json::parse(R"({"type":"integer","minimum":-5,"maximum":5,"description":"A number.","default":1})"));
  EXPECT_EQ(property("sample", "share"), json::parse(R"({"type":"number","exclusiveMinimum":0.0,"exclusiveMaximum":1.0,
                                                         "description":"A share.","default":0.5})"));
  EXPECT_EQ(property("sample", "mode").at("enum"), json::parse(R"(["fast","slow"])"));
  EXPECT_EQ(property("sample", "enable_x").at("type"), "boolean");
  EXPECT_EQ(property("sample", "items").at("items"), json::parse(R"({"type":"string"})"));
  EXPECT_EQ(property("sample", "groups").at("items"), json::parse(R"({"type":"object"})"));
  EXPECT_EQ(property("sample", "groups").at("default"), json::array());
}

TEST_F(SchemaTest, NullableOptionsAcceptNone) {
  EXPECT_EQ(property("sample", "file").at("anyOf"),
            json::parse(R"([{"type":"string","minLength":1},{"const":"None"}])"));
  EXPECT_EQ(property("sample", "file").at("default"), "None");
}

TEST_F(SchemaTest, SectionModelDependsOnTheModule) {
  ASSERT_EQ(schema_.at("allOf").size(), 2U);
  const json& rule = schema_.at("allOf").at(1);
  EXPECT_EQ(rule.at("if"), json::parse(R"({"properties":{"module":{"const":"mixtral"}},"required":["module"]})"));
  const json& model = rule.at("then").at("properties").at("model");
  EXPECT_EQ(model.at("properties").at("dim").at("type"), "boolean");
  EXPECT_TRUE(model.at("properties").contains("n_experts"));
  EXPECT_EQ(schema_.at("properties").at("module").at("enum"), json::parse(R"(["llama3","mixtral"])"));
}

TEST(SchemaOfNothingTest, IsStillASchema) {
  const json schema = json::parse(render_schema(Registry()));
  EXPECT_FALSE(schema.contains("allOf"));
  EXPECT_EQ(schema.at("type"), "object");
}

}  // namespace
}  // namespace titan::config
