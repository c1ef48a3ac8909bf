#include "core/plugin/manifest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/plugin/fake_plugin.hpp"

namespace titan::plugin {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

Facts full_facts() {
  Facts facts;
  facts.id = "org.example.full";
  facts.name = "full";
  facts.version = "1.0.0";
  facts.license = "MIT";
  facts.abi = {TITAN_ABI_MAJOR, TITAN_ABI_MINOR, 1, TITAN_TIER_TORCH};
  facts.torch = {"2.11.0", 1, 13};
  facts.provides = {"titan.observer/1"};
  config::Option option;
  option.owner = "full";
  const auto add = [&](const char* name, config::Type type, config::Value value) {
    option.name = name;
    option.type = type;
    option.default_value = std::move(value);
    option.nullable = std::holds_alternative<std::monostate>(option.default_value);
    facts.options.push_back(option);
  };
  add("full.flag", config::Type::boolean, true);
  add("full.count", config::Type::integer, std::int64_t{9007199254740993});
  add("full.rate", config::Type::floating, 0.1);
  add("full.whole_rate", config::Type::floating, 2.0);
  add("full.text", config::Type::string, std::string("\"quoted\"\n\u00e9"));
  add("full.path", config::Type::path, std::string("./x"));
  add("full.list", config::Type::strings, std::vector<std::string>{"a", "b,c"});
  add("full.tables", config::Type::tables, std::string("[{\"a\":1}]"));
  add("full.none", config::Type::integer, {});
  facts.options[1].min = -1;
  facts.options[1].max = 1e300;
  facts.options[1].min_exclusive = facts.options[1].must_match = facts.options[1].hidden = true;
  facts.options[4].choices = {"\"quoted\"\n\u00e9", "other"};
  facts.presets = {{"small", "Small.", "", {{"full.count", "7"}}, "full"}, {"large", "", "small", {}, "full"}};
  return facts;
}

class ManifestTest : public ::testing::Test {
 protected:
  /// Writes the manifest of full_facts() with one change to its JSON.
  template <class Change>
  std::filesystem::path write(Change change) {
    Json json = Json::parse(write_manifest(full_facts(), library_));
    change(json);
    return folder_.write("full.titan.json", json.dump());
  }

  /// Why the changed manifest is refused: "exit code: reason".
  template <class Change>
  std::string refusal(Change change) {
    return refusal_of(write(change));
  }

  static std::string refusal_of(const std::filesystem::path& file) {
    try {
      read_manifest(file);
      return {};
    } catch (const LoadProblem& problem) {
      return concat(static_cast<int>(problem.exit()), ": ", problem.what());
    }
  }

  const testing::TemporaryFolder folder_;
  const std::filesystem::path library_ = folder_.write("full.so", "not read, only hashed");
};

TEST_F(ManifestTest, ComesBackEqual) {
  const Manifest manifest = read_manifest(write([](Json&) {}));
  EXPECT_EQ(facts_to_json(manifest.facts), facts_to_json(full_facts()));
  EXPECT_EQ(manifest.facts.torch, full_facts().torch);
  EXPECT_EQ(manifest.library_file, "full.so");
  const Facts& facts = manifest.facts;
  for (std::size_t i = 0; i < facts.options.size(); ++i) {
    EXPECT_EQ(facts.options[i].default_value, full_facts().options[i].default_value) << facts.options[i].name;
    EXPECT_EQ(facts.options[i].owner, "full");
  }
  EXPECT_EQ(facts.presets[1].owner, "full");
}

TEST_F(ManifestTest, KnowsItsLibrary) {
  const Manifest manifest = read_manifest(write([](Json&) {}));
  EXPECT_TRUE(describes(manifest, library_));
  folder_.write("full.so", "not read, only hasheD");
  EXPECT_FALSE(describes(manifest, library_));
  folder_.write("full.so", "another size");
  EXPECT_FALSE(describes(manifest, library_));
  EXPECT_FALSE(describes(manifest, folder_.path() / "gone.so"));
}

TEST_F(ManifestTest, LiesBesideTheLibrary) {
  EXPECT_EQ(manifest_path("/a/b/full.so"), "/a/b/full.titan.json");
  EXPECT_EQ(manifest_path("full.so"), "full.titan.json");
}

TEST_F(ManifestTest, IgnoresFieldsItDoesNotKnow) {
  EXPECT_EQ(refusal([](Json& json) { json["since"] = "tomorrow"; }), "");
}

TEST_F(ManifestTest, RefusesAnotherVersion) {
  EXPECT_THAT(refusal([](Json& json) { json["manifest_version"] = 2; }),
              HasSubstr("76: its manifest has version 2, this titan reads 1"));
}

TEST_F(ManifestTest, RefusesAMissingFile) {
  EXPECT_THAT(refusal_of(folder_.path() / "gone.titan.json"), HasSubstr("66: its manifest cannot be read"));
}

TEST_F(ManifestTest, RefusesEveryMissingField) {
  const Json whole = Json::parse(write_manifest(full_facts(), library_));
  for (const auto& item : whole.items()) {
    EXPECT_THAT(refusal([&](Json& json) { json.erase(item.key()); }),
                HasSubstr(concat("76: its manifest is broken: missing field ", item.key())));
  }
  for (const auto& item : whole["options"][0].items()) {
    EXPECT_THAT(refusal([&](Json& json) { json["options"][0].erase(item.key()); }), HasSubstr("missing field"));
  }
}

TEST_F(ManifestTest, RefusesEveryFieldOfAnotherType) {
  const Json whole = Json::parse(write_manifest(full_facts(), library_));
  const Json flat = whole.flatten();
  for (const auto& pointer : flat.items()) {
    const Json::json_pointer at(pointer.key());
    const Json wrong = whole[at].is_object() ? Json(7) : Json::object();
    EXPECT_THAT(refusal([&](Json& json) { json[at] = wrong; }), HasSubstr("76: its manifest is broken"))
        << pointer.key();
  }
}

TEST_F(ManifestTest, RefusesNumbersOutOfRange) {
  EXPECT_THAT(refusal([](Json& json) { json["abi"]["major"] = -1; }), HasSubstr("out of range: field major"));
  EXPECT_THAT(refusal([](Json& json) { json["abi"]["minor"] = std::int64_t{1} << 40U; }), HasSubstr("out of range"));
  EXPECT_THAT(refusal([](Json& json) { json["options"][1]["default"] = ~std::uint64_t{0}; }),
              HasSubstr("out of range: field default"));
  EXPECT_THAT(refusal([](Json& json) { json["options"][1]["default"] = 1.5; }), HasSubstr("not an integer"));
}

TEST_F(ManifestTest, NeverLeavesItsFolder) {
  for (const char* name : {"", ".", "..", "../full.so", "/etc/passwd", "sub/full.so"}) {
    EXPECT_THAT(refusal([&](Json& json) { json["library"]["file"] = name; }), HasSubstr("not a plain file name"))
        << name;
  }
  EXPECT_THAT(refusal([](Json& json) { json["library"]["file"] = std::string("full.so\0x", 9); }),
              HasSubstr("not a plain file name"));
}

TEST_F(ManifestTest, ChecksTheFactsToo) {
  EXPECT_THAT(refusal([](Json& json) { json["name"] = "../up"; }), HasSubstr("76: its manifest is broken: its name"));
  EXPECT_THAT(refusal([](Json& json) { json["presets"][0]["base"] = "large"; }), HasSubstr("based on itself"));
  EXPECT_THAT(refusal([](Json& json) { json["tier"] = "gold"; }), HasSubstr("unknown tier: gold"));
  EXPECT_THAT(refusal([](Json& json) { json["options"][0]["type"] = "date"; }), HasSubstr("unknown option type: date"));
}

TEST_F(ManifestTest, SurvivesHostileText) {
  const std::string whole = write_manifest(full_facts(), library_);
  for (std::size_t size = 0; size + 2 < whole.size(); size += 61) {
    EXPECT_THAT(refusal_of(folder_.write("cut.titan.json", whole.substr(0, size))), HasSubstr("76: ")) << size;
  }
  EXPECT_THAT(refusal_of(folder_.write("deep.titan.json", std::string(1000000, '['))), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal_of(folder_.write("large.titan.json", std::string((4U << 20U) + 1, ' '))), HasSubstr("76: "));
  EXPECT_THAT(refusal_of(folder_.write("list.titan.json", "[1, 2]")), HasSubstr("76: "));
  EXPECT_THAT(refusal_of(folder_.write("bytes.titan.json", "{\"id\": \"\xff\xfe\"}")), HasSubstr("76: "));
}

}  // namespace
}  // namespace titan::plugin
