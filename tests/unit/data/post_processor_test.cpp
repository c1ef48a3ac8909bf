#include "core/data/post_processor.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/thrown_text.hpp"

namespace titan::data {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int64_t>;

PostProcessor parse(const json& section) { return PostProcessor::parse(JsonField(section, "tokenizer", "f")); }

json special(const char* id) { return {{"SpecialToken", {{"id", id}, {"type_id", 0}}}}; }
json text(const char* id = "A") { return {{"Sequence", {{"id", id}, {"type_id", 0}}}}; }

json processing(json single) {
  return {{"type", "TemplateProcessing"},
          {"single", std::move(single)},
          {"special_tokens", {{"<s>", {{"ids", {7}}}}, {"</s>", {{"ids", {8, 9}}}}}}};
}

TEST(PostProcessor, PutsTheTemplatesTokensAround) {
  const PostProcessor around = parse(processing({special("<s>"), text(), special("</s>")}));
  EXPECT_EQ(around.prefix, Ids{7});
  EXPECT_EQ(around.suffix, (Ids{8, 9}));
  EXPECT_TRUE(parse({{"type", "ByteLevel"}}).prefix.empty());
}

TEST(PostProcessor, NestsSequences) {
  const json inner = processing({special("<s>"), text()});
  const json outer = processing({special("</s>"), text(), special("<s>")});
  const PostProcessor around = parse({{"type", "Sequence"}, {"processors", {inner, {{"type", "ByteLevel"}}, outer}}});
  EXPECT_EQ(around.prefix, (Ids{8, 9, 7}));
  EXPECT_EQ(around.suffix, Ids{7});
}

TEST(PostProcessor, RefusesWhatIsMalformed) {
  const auto refusal = [](const json& section) { return testing::error_text<DataError>([&] { parse(section); }); };
  EXPECT_NE(refusal(processing({special("<x>"), text()})).find("not among special_tokens: \"<x>\""), std::string::npos);
  EXPECT_NE(refusal(processing({special("<s>")})).find("sequence A once"), std::string::npos);
  EXPECT_NE(refusal(processing({text(), text()})).find("sequence A once"), std::string::npos);
  EXPECT_NE(refusal(processing({text("B")})).find("sequence A once"), std::string::npos);
  EXPECT_NE(refusal({{"type", "RobertaProcessing"}}).find("not supported: RobertaProcessing"), std::string::npos);
  json negative = processing({special("<s>"), text()});
  negative["special_tokens"]["<s>"]["ids"] = {-1};
  EXPECT_NE(refusal(negative).find("out of range"), std::string::npos);
}

}  // namespace
}  // namespace titan::data
