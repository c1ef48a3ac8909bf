#include "core/checkpoint/index.hpp"

#include <gtest/gtest.h>

#include <ctime>

#include "core/base/error.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

constexpr std::uint64_t kBlock = std::uint64_t{1} << 20U;

StoredFile file(const char* name, std::uint64_t size) {
  return {name, size, kBlock, std::vector<std::string>((size + kBlock - 1) / kBlock, std::string(32, 'd'))};
}

Index sample() {
  Index index;
  index.files = {file("a.safetensors", 5000), file("b.safetensors", kBlock + 1)};
  index.tensors["w \"1\""] = {DType::f32, {4, 6}, {{{{0, 0}, {3, 6}}, 0, 4096}, {{{3, 0}, {1, 6}}, 1, 4096}}};
  index.tensors["scalar"] = {DType::i64, {}, {{{{}, {}}, 1, 4120}}};
  index.tensors["empty"] = {DType::bf16, {0, 3}, {}};
  return index;
}

void expect_refused(const std::string& text, const std::string& why) {
  const std::string found = testing::error_text<DataError>([&] { read_index(text, "index.json"); });
  EXPECT_NE(found.find(why), std::string::npos) << found;
  EXPECT_NE(found.find("index.json"), std::string::npos) << found;
}

/// The sample's text with one piece of it replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = write_index(sample());
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from << text;
  return text.replace(at, from.size(), to);
}

TEST(IndexTest, ReadsWhatItWrote) {
  EXPECT_EQ(read_index(write_index(sample()), "i"), sample());
  EXPECT_EQ(read_index(write_index({}), "i"), Index{});
}

TEST(IndexTest, MembersMayComeInAnyOrderAndPartsAreSorted) {
  const char* text = R"({"tensors": {"a": {"parts": [{"size": [1], "offset": [2], "begin": 4, "file": 0},
                                                      {"size": [2], "offset": [0], "begin": 8, "file": 0}],
                                            "shape": [3], "dtype": "F32"}},
    "files": [{"block_hashes": ["0123456789abcdef0123456789abcdef"], "block_size": 1048576, "size": 16, "name": "s"}],
    "version": 1, "format": "titan.checkpoint.index"})";
  const Index index = read_index(text, "i");
  EXPECT_EQ(index.tensors.at("a").parts, (std::vector<StoredPart>{{{{0}, {2}}, 0, 8}, {{{2}, {1}}, 0, 4}}));
}

TEST(IndexTest, RefusesWhatIsNoIndex) {
  expect_refused("", "index.json:1:1");
  expect_refused("[]", "expected an object");
  expect_refused("{}", "missing field: \"format\"");
  expect_refused(changed("\"version\": 1", "\"version\": 2"), "unknown version: 2");
  expect_refused(changed("\"version\": 1", "\"version\": 1, \"x\": 1"), "unknown field: \"x\"");
  expect_refused(changed("\"files\": [", "\"files\": [1,"), "files: expected objects");
  expect_refused(changed("\"tensors\": {", "\"tensors\": {\"x\": 1,"), "tensors: expected objects");
  expect_refused(changed("\"tensors\": {", "\"tensors\": {\"x\": [],"), "tensors: expected objects");
  expect_refused(changed("\"parts\":[{", "\"parts\":[7,{"), "parts: expected objects");
  expect_refused(changed("\"parts\":[{", "\"parts\":[[{\"file\":0}],{"), "missing field");
  expect_refused(changed("\"scalar\": {", "\"empty\": {"), "a name is twice in an object: empty");
  expect_refused(R"({"format": "titan.checkpoint.index", "version": 1, "files": {"a": {}}, "tensors": {}})",
                 "files: unknown field: \"a\"");
  expect_refused(changed("\"files\": [",
                         "\"files\": {\"name\": \"a\", \"size\": 0, \"block_size\": 1048576, "
                         "\"block_hashes\": []}, \"files\": ["),
                 "a name is twice in an object: files");
  expect_refused(R"({"format": "titan.checkpoint.index", "version": 1, "files": [], "tensors": []})",
                 "tensors: expected an object");
  expect_refused("{\"tensors\": {\"a\": " + std::string(1000, '['), "nested too deeply");
}

TEST(IndexTest, RefusesFieldsThatDoNotFit) {
  expect_refused(changed("\"F32\"", "\"F31\""), "tensors.w \"1\": dtype: unknown dtype: F31");
  expect_refused(changed("\"dtype\":\"F32\",", ""), "missing field: \"dtype\"");
  expect_refused(changed("\"shape\":[4,6]", "\"shape\":[4,-6]"), "number out of range: -6");
  expect_refused(changed("\"begin\":4096", "\"begin\":-1"), "begin: number out of range");
  expect_refused(changed("\"begin\":4096", "\"begin\":4096,\"x\":1"), "unknown field: \"x\"");
  expect_refused(changed("\"a.safetensors\"", "\"../a\""), "files: name: not the name of a file in the same folder");
  expect_refused(changed("\"dddd", "\"ddd"), "block_hashes[0]: expected 32 hexadecimal digits");
}

TEST(IndexTest, ReadsAHundredThousandPartsInBoundedTime) {
  Index index;
  index.files = {file("a", 100'000 * 32)};
  StoredTensor& tensor = index.tensors["w"];
  tensor = {DType::f32, {100'000, 8}, {}};
  for (std::int64_t i = 0; i < 100'000; ++i) {
    tensor.parts.push_back({{{i, 0}, {1, 8}}, 0, static_cast<std::uint64_t>(i) * 32});
  }
  const std::string text = write_index(index);
  const std::clock_t before = std::clock();
  EXPECT_EQ(read_index(text, "i").tensors.at("w").parts.size(), 100'000U);
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 10.0);
}

}  // namespace
}  // namespace titan::checkpoint
