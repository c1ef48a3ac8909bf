#include "core/checkpoint/hub/hub_index.hpp"

#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::HasSubstr;

std::string refusal(const std::string& text) {
  return titan::testing::error_text<DataError>([&] { read_hub_index(text, "hub.json"); });
}

TEST(HubIndex, ReadsWhatTransformersWrites) {
  const HubWeightMap weights = read_hub_index(
      R"({"metadata": {"total_size": 8}, "weight_map": {"b": "model-2.safetensors", "a": "model-1.safetensors"}})",
      "i");
  EXPECT_EQ(weights, (HubWeightMap{{"a", "model-1.safetensors"}, {"b", "model-2.safetensors"}}));
}

TEST(HubIndex, ReadsWhatItWrites) {
  const HubWeightMap weights{{"a", "model-1.safetensors"}, {"b\n\"", "model-2.safetensors"}};
  const std::string text = write_hub_index(weights, 12, 48);
  EXPECT_EQ(read_hub_index(text, "i"), weights);
  EXPECT_THAT(text, HasSubstr("\"metadata\": {\n    \"total_parameters\": 12,\n    \"total_size\": 48\n  }"));
}

TEST(HubIndex, FilesAreOfTheSameFolder) {
  for (const char* name : {"../x.safetensors", "/etc/passwd", "a/b.safetensors", ".", "..", "", "a\\u0000b"}) {
    EXPECT_THAT(refusal(std::string(R"({"weight_map": {"w": ")") + name + "\"}}"),
                HasSubstr("hub.json: weight_map.w: expected the name of a file of the same folder"))
        << name;
  }
}

TEST(HubIndex, RefusesWhatIsNoIndex) {
  EXPECT_THAT(refusal("{"), HasSubstr("hub.json:1:"));
  EXPECT_THAT(refusal(R"({"weight_map": {"w": "a", "w": "b"}})"), HasSubstr("twice in an object: w"));
  EXPECT_THAT(refusal("[]"), HasSubstr("expected an object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("missing field: \"weight_map\""));
  EXPECT_THAT(refusal(R"({"weight_map": {}})"), HasSubstr("there are no tensors"));
  EXPECT_THAT(refusal(R"({"weight_map": {"w": 1}})"), HasSubstr("expected a string"));
  EXPECT_THAT(refusal(R"({"weight_map": {"w": ")" + std::string(300, 'x') + "\"}}"), HasSubstr("expected the name"));
}

TEST(HubIndex, BoundsDepthAndSize) {
  EXPECT_THAT(refusal(R"({"weight_map": )" + std::string(1'000'000, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(refusal(std::string(40'000'000, ' ')), HasSubstr("larger than allowed"));
}

}  // namespace
}  // namespace titan::checkpoint
