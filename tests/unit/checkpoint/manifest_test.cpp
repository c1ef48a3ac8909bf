#include "core/checkpoint/manifest.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/base/error.hpp"
#include "core/base/hashing.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

constexpr const char* kId = "0123456789abcdef0123456789abcdef";

Manifest sample() {
  Manifest manifest;
  manifest.step = 12;
  manifest.save_id = kId;
  manifest.origin = {.world_size = 2,
                     .mesh = "dp_shard 2 = 2 ranks",
                     .module = "llama3",
                     .preset = "debugmodel",
                     .config = {{"training.seed", "1"}, {"model.name", "\"x\"\n"}},
                     .plugins = {"llama3 0.1.0 abc"}};
  manifest.files = {{"index.json", 3, std::string(32, 'a')}, {"shard-00000-of-00001.safetensors", 1ULL << 40U, kId}};
  return manifest;
}

/// The sample's text with one piece of it replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = write_manifest(sample());
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

void expect_refused(const std::string& text, const std::string& why) {
  const std::string found = testing::error_text<DataError>([&] { read_manifest(text, "MANIFEST.json"); });
  EXPECT_NE(found.find(why), std::string::npos) << found;
  EXPECT_NE(found.find("MANIFEST.json"), std::string::npos) << found;
}

/// The text with the hash that it should have.
std::string sealed(std::string text) {
  constexpr std::size_t kDigits = 32;
  const std::size_t at = text.rfind("\"hash\": \"") + std::string_view("\"hash\": \"").size();
  text.replace(at, kDigits, kDigits, '0');
  return text.replace(at, kDigits, hash128(text));
}

TEST(ManifestTest, AnyFlippedBitIsDamage) {
  const std::string text = write_manifest(sample());
  EXPECT_EQ(sealed(text), text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const unsigned bit : {0U, 3U, 5U, 7U}) {
      std::string flipped = text;
      flipped[i] = static_cast<char>(static_cast<unsigned char>(flipped[i]) ^ (1U << bit));
      EXPECT_THROW(read_manifest(flipped, "m"), DataError) << i << ", bit " << bit;
    }
  }
}

TEST(ManifestTest, ReadsWhatItWrote) {
  EXPECT_EQ(read_manifest(write_manifest(sample()), "m"), sample());
  Manifest model = sample();
  model.contents = Contents::model_only;
  model.step = 0;
  model.files.clear();
  model.origin = {};
  EXPECT_EQ(read_manifest(write_manifest(model), "m"), model);
}

TEST(ManifestTest, ContentsHaveNames) {
  EXPECT_EQ(contents_name(Contents::full), "full");
  EXPECT_EQ(contents_name(Contents::model_only), "model_only");
}

TEST(ManifestTest, BytesThatAreNoTextAreReplacedAndReadBack) {
  Manifest manifest = sample();
  manifest.origin.preset = "configs/\xff.toml";
  manifest.origin.config["dump_folder"] = "\xfe";
  const Manifest found = read_manifest(write_manifest(manifest), "m");
  EXPECT_EQ(found.origin.preset, "configs/\xEF\xBF\xBD.toml");
}

TEST(ManifestTest, RefusesWhatIsNoManifest) {
  expect_refused("", "MANIFEST.json:1:1");
  expect_refused("{", "MANIFEST.json:1:2");
  expect_refused("[]", "expected an object");
  expect_refused(write_manifest(sample()) + "{}", "MANIFEST.json:");
  expect_refused(changed("\"titan.checkpoint\"", "\"titan.checkpoint.index\""),
                 "format: expected \"titan.checkpoint\"");
  expect_refused(changed("\"version\": 1", "\"version\": 2"), "version: unknown version: 2");
  expect_refused(changed("\"version\": 1", "\"version\": 1, \"later\": true"), "unknown field: \"later\"");
  expect_refused(changed("\"version\": 1", "\"version\": 1, \"version\": 1"), "a name is twice in an object: version");
}

TEST(ManifestTest, NewerVersionsAreNamedBeforeTheirFields) {
  expect_refused(changed("\"version\": 1", "\"version\": 2, \"later\": true"), "unknown version: 2");
}

TEST(ManifestTest, RefusesFieldsThatDoNotFit) {
  expect_refused(changed("\"step\": 12", "\"step\": -1"), "step: number out of range: -1");
  expect_refused(changed("\"step\": 12", "\"step\": 1000000000000000000"), "step: number out of range");
  expect_refused(changed("\"step\": 12", "\"step\": 12.0"), "step: expected a whole number");
  expect_refused(changed("\"save_id\": \"0", "\"save_id\": \"F"), "save_id: expected 32 hexadecimal digits");
  expect_refused(changed("\"full\"", "\"model\""), "contents: expected \"full\" or \"model_only\", found \"model\"");
  expect_refused(changed("\"world_size\": 2", "\"world_size\": 0"), "origin.world_size: number out of range");
  expect_refused(changed("\"training.seed\": \"1\"", "\"training.seed\": 1"), "expected a string");
  expect_refused(changed("\"training.seed\": \"1\"", "\"training.seed\": \"2\""),
                 "origin.config_fingerprint: not that of module and config");
}

TEST(ManifestTest, UnknownMembersOfTheOriginAreLetBe) {
  EXPECT_EQ(read_manifest(sealed(changed("\"world_size\": 2", "\"world_size\": 2, \"host\": \"a\"")), "m"), sample());
}

TEST(ManifestTest, RefusesFilesThatAreNotInTheFolder) {
  for (const char* name : {"../index.json", "/etc/passwd", "a/b", "..", ".", "", "a\\u0000b", "a\\nb"}) {
    expect_refused(changed("\"index.json\"", concat('"', name, '"')), "files[0].name: not the name of a file");
  }
  expect_refused(changed("\"index.json\"", "\"MANIFEST.json\""), "files[0]: the manifest lists itself");
  expect_refused(changed("\"index.json\"", "\"shard-00000-of-00001.safetensors\""), "files[1]: a file is there twice");
  expect_refused(changed("\"size\": 3", "\"size\": -3"), "files[0].size: number out of range");
  expect_refused(changed("\"size\": 3", "\"size\": 18446744073709551615"), "files[0].size: number out of range");
  expect_refused(changed("aaaa\"", "aaaaa\""), "files[0].hash: expected 32 hexadecimal digits");
  expect_refused(changed("\"size\": 3,", ""), "files[0]: missing field: \"size\"");
  expect_refused(changed("\"size\": 3", "\"size\": 3, \"mode\": 7"), "files[0]: unknown field: \"mode\"");
}

TEST(ManifestTest, KeepsToItsLimits) {
  expect_refused(std::string(kMostManifestBytes + 1, ' '), "larger than allowed");
  expect_refused(std::string(1000, '['), "nested too deeply");
  std::string numbers = "[0";
  for (int i = 0; i < 1'000'000; ++i) numbers += ",0";
  expect_refused(changed("\"files\": [", "\"files\": [" + numbers + "], "), "more values than allowed");
}

TEST(ManifestTest, TheFingerprintIsTheHashOfModuleAndConfig) {
  const Origin origin = sample().origin;
  EXPECT_EQ(config_fingerprint(origin),
            hash128(R"({"config":{"model.name":"\"x\"\n","training.seed":"1"},"module":"llama3"})"));
  Origin other = origin;
  other.preset = "another";
  EXPECT_EQ(config_fingerprint(other), config_fingerprint(origin));
  other.module = "qwen3";
  EXPECT_NE(config_fingerprint(other), config_fingerprint(origin));
}

}  // namespace
}  // namespace titan::checkpoint
