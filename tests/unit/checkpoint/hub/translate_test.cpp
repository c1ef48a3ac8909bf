#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/hub/hub_models.hpp"

namespace titan::checkpoint {
namespace {

using enum HubTransform;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using titan::testing::error_text;

class Translate : public ::testing::Test {
 protected:
  void write(const std::vector<MadeTensor>& tensors) { write_tensors(folder_ / "model.safetensors", tensors); }
  Source translated(const std::vector<HubName>& names) const { return translate(open_hub(folder_.path()), names); }
  std::string refusal(const HubName& name) const {
    return error_text<DataError>([&] { translated({name}); });
  }

  test::TemporaryFolder folder_;
};

TEST_F(Translate, HalvesBecomePairs) {
  // Two heads of four rows: the hub has a head's even rows first.
  write({{"q", {8, 1}, {0, 2, 1, 3, 4, 6, 5, 7}}});
  const Source ours = translated({{"wq", "q", rope_halves, 2}});
  EXPECT_THAT(elements<float>(ours, "wq"), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST_F(Translate, HalvesOfOneDimBecomePairsToo) {
  write({{"q_norm", {6}, {0, 2, 4, 1, 3, 5}}});
  EXPECT_THAT(elements<float>(translated({{"n", "q_norm", rope_halves, 1}}), "n"), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST_F(Translate, StacksAreTensorsOneByOne) {
  write({{"experts.0.up", {1, 2}, {1, 2}}, {"experts.1.up", {1, 2}, {3, 4}}, {"experts.2.up", {1, 2}, {5, 6}}});
  const Source ours = translated({{"experts.w3", "experts.*.up", stacked, 3}});
  EXPECT_THAT(names_of(ours), ElementsAre("experts.w3"));
  EXPECT_EQ(ours.tensors.at("experts.w3").shape, (std::vector<std::int64_t>{3, 1, 2}));
  EXPECT_THAT(elements<float>(ours, "experts.w3"), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(Translate, WhatNoNameCoversKeepsItsName) {
  write({{"a", {1}, {1}}, {"rest", {1}, {2}}});
  const Source ours = translated({{"ours", "a"}, {"output.weight", "lm_head.weight"}});
  EXPECT_THAT(names_of(ours), ElementsAre("ours", "rest"));
  const WantedPart wanted{{"ours", DType::f32, {1}}, {{0}, {1}}, nullptr};
  EXPECT_THAT(unexpected_tensors(ours, {&wanted, 1}), ElementsAre("rest"));
}

TEST_F(Translate, ATensorMayServeTwice) {
  write({{"embed", {2}, {1, 2}}});
  const Source ours = translated({{"tok_embeddings", "embed"}, {"output", "embed"}});
  EXPECT_EQ(content(ours, "tok_embeddings"), content(ours, "output"));
}

TEST_F(Translate, ShapesMustFit) {
  write({{"six", {6, 1}, {0, 1, 2, 3, 4, 5}}, {"scalar", {}, {0}}, {"e.0", {1}, {0}}, {"e.1", {2}, {0, 1}}});
  EXPECT_THAT(refusal({"w", "six", rope_halves, 4}), HasSubstr("not heads of pairs: six: 6 rows, 4 heads"));
  EXPECT_THAT(refusal({"w", "six", rope_halves, 2}), HasSubstr("not heads of pairs: six"));
  EXPECT_THAT(refusal({"w", "six", rope_halves, 0}), HasSubstr("not heads of pairs: six"));
  EXPECT_THAT(refusal({"w", "scalar", rope_halves, 1}), HasSubstr("not heads of pairs: scalar"));
  EXPECT_THAT(refusal({"w", "e.*", stacked, 2}), HasSubstr("differ in shape or dtype: e.0, e.1"));
  EXPECT_THAT(refusal({"w", "e.*", stacked, 3}), HasSubstr("differ in shape"));
  EXPECT_THAT(refusal({"w", "e.*", stacked, 0}), HasSubstr("a stack of no tensors"));
}

TEST_F(Translate, RowsAreBoundedBeforePartsAreMade) {
  constexpr std::int64_t kHalf = (std::int64_t{1} << 21U) + 2, kHuge = std::int64_t{1} << 40U;
  const auto refuse = [](std::int64_t rows, const std::vector<HubName>& names) {
    Source hub;
    hub.files = {{"model.safetensors", static_cast<std::uint64_t>(rows), 0, {}}};
    for (const HubName& name : names) {
      hub.tensors[name.hub_name] = {DType::u8, {rows}, {{{{0}, {rows}}, 0, 0}}};
    }
    return error_text<DataError>([&] { translate(hub, names); });
  };
  EXPECT_THAT(refuse(kHuge, {{"w", "huge", rope_halves, 1}}), HasSubstr("too many rows to take apart: huge"));
  EXPECT_THAT(refuse(kHalf, {{"w", "a", rope_halves, 1}, {"v", "b", rope_halves, 1}}),
              HasSubstr("too many rows to take apart: b: 2097154 rows, 2097154 before, limit 4194304"));
}

TEST_F(Translate, AStackIsWhole) {
  write({{"e.0", {1}, {0}}, {"e.2", {1}, {0}}});
  EXPECT_THAT(refusal({"w", "e.*", stacked, 3}), HasSubstr("is missing: e.1"));
}

TEST_F(Translate, NamesMayNotMeet) {
  write({{"a", {1}, {0}}, {"b", {1}, {0}}});
  EXPECT_THAT(refusal({"b", "a"}), HasSubstr("two tensors get the same name: b"));
}

TEST(TranslateVectors, TheReferenceLoadsBitForBit) {
  TITAN_REQUIRE_VECTORS("hf_sharded");
  const std::filesystem::path vectors = titan::testing::vectors_dir();
  const Source ours = translate(open_hub(vectors / "hf_sharded"), tiny_llama_names());
  const Source expected = open_hub(vectors / "llama3_tiny");
  ASSERT_EQ(names_of(ours), names_of(expected));
  for (const std::string& name : names_of(ours)) {
    EXPECT_EQ(ours.tensors.at(name).shape, expected.tensors.at(name).shape) << name;
    EXPECT_EQ(content(ours, name), content(expected, name)) << name;
  }
}

}  // namespace
}  // namespace titan::checkpoint
