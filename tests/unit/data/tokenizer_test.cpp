#include "core/data/tokenizer.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/support/vectors.hpp"
#include "tests/unit/data/tiny_tokenizer.hpp"

namespace titan::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Ids = std::vector<std::int64_t>;

// From this many ids on, the vectors leave out the forms with BOS and EOS.
constexpr std::size_t kShortened = 400;

std::vector<json> read_lines(const fs::path& path) {
  std::vector<json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
  return lines;
}

/// Calls `check` for each folder of vectors with the file; skips the test, naming the file, when none has it.
void for_each_folder(const char* file, const std::function<void(const fs::path& folder)>& check) {
  std::size_t checked = 0;
  for (const auto& entry : fs::directory_iterator(testing::vectors_dir())) {
    if (!fs::exists(entry.path() / "cases.jsonl")) continue;
    if (!fs::exists(entry.path() / file)) {
      std::cout << "skipped: no " << file << " in " << entry.path() << '\n';
      continue;
    }
    SCOPED_TRACE(entry.path());
    check(entry.path());
    ++checked;
  }
  if (checked == 0) GTEST_SKIP() << "no folder with cases.jsonl and " << file << " in " << testing::vectors_dir();
}

void check_encoding(const Tokenizer& tokenizer, const json& line) {
  SCOPED_TRACE(line.value("n", -1));
  const auto text = line.at("text").get<std::string>();
  const auto raw = line.at("raw").get<Ids>();
  const Ids ids = line.value("ids", raw);
  EXPECT_EQ(tokenizer.encode(text), raw);
  EXPECT_EQ(tokenizer.encode(text, false, false), ids);
  if (line.contains("ids_bos_eos")) {
    EXPECT_EQ(tokenizer.encode(text, true, true), line.at("ids_bos_eos").get<Ids>());
  }
  if (line.contains("ids_default") || raw.size() < kShortened) {
    EXPECT_EQ(tokenizer.encode_default(text), line.value("ids_default", ids));
  }
  EXPECT_EQ(tokenizer.decode(raw, true), line.value("decode_skip_special", text));
  EXPECT_EQ(tokenizer.decode(raw, false), line.value("decode_keep_special", text));
}

TEST(TokenizerVectors, Encoding) {
  for_each_folder("cases.jsonl", [](const fs::path& folder) {
    const auto tokenizer = Tokenizer::load(folder);
    const std::vector<json> lines = read_lines(folder / "cases.jsonl");
    EXPECT_EQ(lines.size(), lines.at(0).at("count").get<std::size_t>() + 1);
    for (std::size_t i = 1; i < lines.size(); ++i) check_encoding(*tokenizer, lines[i]);
  });
}

TEST(TokenizerVectors, Decoding) {
  for_each_folder("cases.decode.jsonl", [](const fs::path& folder) {
    const auto tokenizer = Tokenizer::load(folder);
    for (const json& line : read_lines(folder / "cases.decode.jsonl")) {
      const auto ids = line.at("ids").get<Ids>();
      EXPECT_EQ(tokenizer->decode(ids, true), line.at("skip_special").get<std::string>()) << line.at("ids");
      EXPECT_EQ(tokenizer->decode(ids, false), line.at("keep_special").get<std::string>()) << line.at("ids");
    }
  });
}

TEST(TokenizerVectors, Flags) {
  for_each_folder("cases.jsonl", [](const fs::path& folder) {
    const auto tokenizer = Tokenizer::load(folder);
    const json header = read_lines(folder / "cases.jsonl").at(0);
    const auto id = [&](const char* name) {
      return header.at(name).is_null() ? std::nullopt : std::optional(header.at(name).get<std::int64_t>());
    };
    EXPECT_EQ(tokenizer->bos_id(), id("bos_id"));
    EXPECT_EQ(tokenizer->eos_id(), id("eos_id"));
    EXPECT_EQ(tokenizer->vocab_size(), header.at("vocab_size"));
    EXPECT_EQ(tokenizer->bos_eos_rules().adds_bos, header.at("hf_adds_bos"));
    EXPECT_EQ(tokenizer->bos_eos_rules().adds_eos, header.at("hf_adds_eos"));
    EXPECT_EQ(tokenizer->bos_eos_rules().default_add_bos, header.at("default_add_bos"));
    EXPECT_EQ(tokenizer->bos_eos_rules().default_add_eos, header.at("default_add_eos"));
  });
}

class TokenizerFiles : public ::testing::Test {
 protected:
  std::shared_ptr<const Tokenizer> load(const json& tokenizer, const std::string& config = "{}") {
    folder_.write("tokenizer.json", tokenizer.dump());
    folder_.write("tokenizer_config.json", config);
    return Tokenizer::load(folder_.path());
  }
  std::string refusal(const json& tokenizer, const std::string& config = "{}") {
    const std::string text = testing::error_text<DataError>([&] { load(tokenizer, config); });
    EXPECT_NE(text.find(folder_.path().string()), std::string::npos) << text;
    return text;
  }

  test::TemporaryFolder folder_;
};

TEST_F(TokenizerFiles, NamesAMissingFile) {
  const std::string text = testing::error_text<InputError>([&] { Tokenizer::load(folder_.path() / "none"); });
  EXPECT_NE(text.find("none/tokenizer.json"), std::string::npos) << text;
  EXPECT_NE(text.find("set hf_assets_path"), std::string::npos) << text;
}

TEST_F(TokenizerFiles, NamesAPathThatCannotBeLookedUp) {
  const std::string name(300, 'x');  // longer than a file system allows
  const std::string text = testing::error_text<InputError>([&] { Tokenizer::load(folder_.path() / name); });
  EXPECT_NE(text.find("tokenizer.json"), std::string::npos) << text;
}

TEST_F(TokenizerFiles, WorksWithoutConfiguration) {
  folder_.write("tokenizer.json", testing::tiny_tokenizer().dump());
  const auto tokenizer = Tokenizer::load(folder_.path());
  EXPECT_FALSE(tokenizer->bos_id().has_value());
  EXPECT_EQ(tokenizer->encode("the", true, true), (Ids{257}));
}

TEST_F(TokenizerFiles, FingerprintCoversBothFiles) {
  const std::string plain = load(testing::tiny_tokenizer())->fingerprint();
  EXPECT_EQ(load(testing::tiny_tokenizer())->fingerprint(), plain);
  EXPECT_NE(load(testing::tiny_tokenizer(), R"({"eos_token":"<e>"})")->fingerprint(), plain);
  json other = testing::tiny_tokenizer();
  other["model"]["merges"].erase(1);
  EXPECT_NE(load(other)->fingerprint(), plain);
}

TEST_F(TokenizerFiles, RefusesMissingSections) {
  json tokenizer = testing::tiny_tokenizer();
  tokenizer["pre_tokenizer"] = nullptr;
  EXPECT_NE(refusal(tokenizer).find("no pre_tokenizer"), std::string::npos);
  for (const char* field : {"vocab", "merges", "type"}) {
    tokenizer = testing::tiny_tokenizer();
    tokenizer["model"].erase(field);
    EXPECT_NE(refusal(tokenizer).find(std::string("model: missing field: \"") + field), std::string::npos);
  }
  EXPECT_NE(refusal(json::object()).find("missing field: \"model\""), std::string::npos);
  EXPECT_NE(refusal(json::array()).find("expected an object"), std::string::npos);
}

TEST_F(TokenizerFiles, RefusesWrongAddedTokens) {
  json tokenizer = testing::tiny_tokenizer();
  tokenizer["added_tokens"] = {{{"id", 300}, {"content", "<x>"}}};
  EXPECT_NE(refusal(tokenizer).find("added_tokens[0]: states another id"), std::string::npos);
  tokenizer["added_tokens"] = {{{"id", -1}, {"content", "<x>"}}};
  EXPECT_NE(refusal(tokenizer).find("added_tokens[0].id: number out of range: -1"), std::string::npos);
  tokenizer["added_tokens"] = {{{"id", 258}, {"content", "<x>"}}, {{"id", 258}, {"content", "<y>"}}};
  EXPECT_NE(refusal(tokenizer).find("added_tokens[1]: states another id"), std::string::npos);
  tokenizer["added_tokens"] = {{{"id", 258}}};
  EXPECT_NE(refusal(tokenizer).find("missing field: \"content\""), std::string::npos);
  EXPECT_NE(refusal(testing::tiny_tokenizer(), R"({"added_tokens_decoder":{"5":{"content":"<x>"}}})")
                .find("stated 5, gets 258"),
            std::string::npos);
}

TEST_F(TokenizerFiles, RefusesIdsThatNoTokenHas) {
  json tokenizer = testing::tiny_tokenizer();
  tokenizer["post_processor"] = {{"type", "TemplateProcessing"},
                                 {"single", {{{"SpecialToken", {{"id", "<s>"}}}}, {{"Sequence", {{"id", "A"}}}}}},
                                 {"special_tokens", {{"<s>", {{"ids", {258}}}}}}};
  EXPECT_NE(refusal(tokenizer).find("no token has the id 258"), std::string::npos);
  tokenizer = testing::tiny_tokenizer();
  tokenizer["model"]["vocab"]["far"] = 4'000'000;
  EXPECT_NE(refusal(tokenizer).find("too sparse"), std::string::npos);
}

TEST_F(TokenizerFiles, GivesUpOnACatastrophicPattern) {
  json tokenizer = testing::tiny_tokenizer();
  tokenizer["pre_tokenizer"] = {{"type", "Sequence"},
                                {"pretokenizers",
                                 {{{"type", "Split"},
                                   {"pattern", {{"Regex", "(?:a|aa|aaa)+[bc]d"}}},
                                   {"behavior", "Isolated"},
                                   {"invert", false}},
                                  {{"type", "ByteLevel"}, {"use_regex", false}}}}};
  const auto loaded = load(tokenizer);
  EXPECT_EQ(loaded->encode("aabd").size(), 4U + 1);  // ByteLevel's default puts a space before
  EXPECT_NE(testing::error_text<DataError>([&] { loaded->encode(std::string(5000, 'a') + "be bd"); }).find("pattern"),
            std::string::npos);
}

TEST_F(TokenizerFiles, DamagedFilesAreErrorsOnly) {
  const std::string text = testing::tiny_tokenizer().dump();
  std::uint64_t random = 1;
  for (int i = 0; i < 150; ++i) {
    std::string damaged = text;
    for (int k = 0; k < 3; ++k) {
      random = random * 6364136223846793005ULL + 1442695040888963407ULL;
      damaged[(random >> 33U) % damaged.size()] = "{}[]\",:0-x"[(random >> 20U) % 10];
    }
    folder_.write("tokenizer.json", damaged);
    folder_.write("tokenizer_config.json", "{}");
    try {
      Tokenizer::load(folder_.path())->encode("the hen and \xE4\xB8\xAD");
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("tokenizer.json"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace titan::data
