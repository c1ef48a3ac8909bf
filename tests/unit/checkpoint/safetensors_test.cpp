#include "core/checkpoint/safetensors.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/support/vectors.hpp"

namespace titan::checkpoint {
namespace {

std::string prefix_of(std::uint64_t length) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes;
}

SafetensorsHeader parsed(const std::string& json, std::uint64_t data_size) {
  const std::uint64_t header_size = kSafetensorsPrefix + json.size();
  return read_safetensors_header(json, header_size, header_size + data_size, "m.safetensors");
}

std::string refusal(const std::string& json, std::uint64_t data_size) {
  return testing::error_text<DataError>([&] { parsed(json, data_size); });
}

/// Expects that a header is refused with a text that holds `why`.
void expect_refused(const std::string& json, std::uint64_t data_size, const std::string& why) {
  const std::string text = refusal(json, data_size);
  EXPECT_NE(text.find(why), std::string::npos) << shortened(json, 300) << "\n" << text;
  EXPECT_NE(text.find("m.safetensors"), std::string::npos) << text;
}

TEST(SafetensorsTest, ReadsEntriesInOrderOfTheFile) {
  const std::string json =
      R"({"b":{"dtype":"F32","shape":[2,3],"data_offsets":[4,28]},"__metadata__":{"format":"pt","k":"v"},)"
      R"("a":{"data_offsets":[0,4],"shape":[],"dtype":"I32"}}   )";
  const SafetensorsHeader header = parsed(json, 28);
  const std::uint64_t begin = kSafetensorsPrefix + json.size();
  ASSERT_EQ(header.entries.size(), 2U);
  EXPECT_EQ(header.entries[0].tensor, (TensorInfo{"a", DType::i32, {}}));
  EXPECT_EQ(header.entries[0].begin, begin);
  EXPECT_EQ(header.entries[0].end, begin + 4);
  EXPECT_EQ(header.entries[1].tensor, (TensorInfo{"b", DType::f32, {2, 3}}));
  EXPECT_EQ(header.entries[1].end, begin + 28);
  EXPECT_EQ(header.metadata, (std::map<std::string, std::string>{{"format", "pt"}, {"k", "v"}}));
  EXPECT_EQ(header.file_size, begin + 28);
}

TEST(SafetensorsTest, TensorsWithoutElementsHaveAPlaceToo) {
  const std::string json = R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                           R"("b":{"dtype":"F64","shape":[0,7],"data_offsets":[3,3]},)"
                           R"("c":{"dtype":"F64","shape":[7,0],"data_offsets":[0,0]}})";
  EXPECT_EQ(parsed(json, 3).entries.size(), 3U);
  EXPECT_EQ(parsed("{}", 0).entries.size(), 0U);
  expect_refused(R"({"b":{"dtype":"F64","shape":[0],"data_offsets":[5,5]}})", 0, "b: ends after the file");
}

TEST(SafetensorsTest, RefusesWhatIsNoJsonObject) {
  expect_refused("", 0, "does not begin with {");
  expect_refused(" {}", 0, "does not begin with {");
  expect_refused("[]", 0, "does not begin with {");
  expect_refused("\xEF\xBB\xBF{}", 0, "does not begin with {");
  expect_refused("{", 0, "not valid JSON");
  expect_refused("{} {}", 0, "not valid JSON");
  expect_refused("{}", 1, "bytes that belong to no tensor");
  expect_refused(std::string("{}\0 x", 5), 0, "not valid JSON: a NUL");
  expect_refused("{\"\xff\":{}}", 0, "not valid JSON: line 1, column 3");
  expect_refused(R"({"a":[]})", 0, "did not expect an array");
  expect_refused(R"({"a":null})", 0, "did not expect null");
  expect_refused(R"({"a":"b"})", 0, "did not expect a string");
  expect_refused(R"({"a":7})", 0, "did not expect a number");
}

TEST(SafetensorsTest, RefusesNamesAndFieldsThatAreThereTwice) {
  const std::string a = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  const std::string later = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]})";
  expect_refused("{" + a + "," + later + "}", 2, "a: a name is there twice");
  expect_refused("{" + a + R"(,"\u0061":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2,
                 "a: a name is there twice");
  expect_refused(R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1, "a field is there twice");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}})", 1, "a field is there twice");
  expect_refused(R"({"__metadata__":{"k":"1","k":"2"}})", 0, "k: a key is there twice");
  expect_refused(R"({"__metadata__":{},"__metadata__":{}})", 0, "a name is there twice");
}

TEST(SafetensorsTest, RefusesFieldsThatAreMissingUnknownOrOfAnotherKind) {
  expect_refused(R"({"a":{}})", 0, "a: needs dtype, shape and data_offsets");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1]}})", 1, "needs dtype, shape and data_offsets");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}})", 1, "unknown field: x");
  expect_refused(R"({"a":{"dtype":"F128","shape":[1],"data_offsets":[0,16]}})", 16, "a: unknown dtype: F128");
  expect_refused(R"({"a":{"dtype":8,"shape":[1],"data_offsets":[0,1]}})", 1, "did not expect a number");
  expect_refused(R"({"a":{"dtype":["U8"],"shape":[1],"data_offsets":[0,1]}})", 1, "did not expect an array");
  expect_refused(R"({"a":{"dtype":"U8","shape":1,"data_offsets":[0,1]}})", 1, "did not expect a number");
  expect_refused(R"({"a":{"dtype":"U8","shape":["1"],"data_offsets":[0,1]}})", 1, "did not expect a string");
  expect_refused(R"({"a":{"dtype":"U8","shape":[[1]],"data_offsets":[0,1]}})", 1, "did not expect an array");
  expect_refused(R"({"a":{"dtype":"U8","shape":[true],"data_offsets":[0,1]}})", 1, "did not expect true or false");
  expect_refused(R"({"a":{"dtype":"U8","shape":[{}],"data_offsets":[0,1]}})", 1, "did not expect an object");
  expect_refused(R"({"__metadata__":{"k":{}}})", 0, "did not expect an object");
  expect_refused(R"({"__metadata__":{"k":1}})", 0, "did not expect a number");
  expect_refused(R"({"__metadata__":[]})", 0, "did not expect an array");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}})", 1, "needs two numbers");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}})", 1, "more than two numbers");
}

TEST(SafetensorsTest, RefusesSizesThatDoNotFit) {
  expect_refused(R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1, "a: a number is negative");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", 1, "not a whole number");
  expect_refused(R"({"a":{"dtype":"U8","shape":[1e0],"data_offsets":[0,1]}})", 1, "not a whole number");
  expect_refused(R"({"a":{"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,1]}})", 1, "too large");
  expect_refused(R"({"a":{"dtype":"U8","shape":[99999999999999999999],"data_offsets":[0,1]}})", 1, "too large");
  expect_refused(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "not those of its shape and dtype");
  expect_refused(R"({"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}})", 0,
                 "not those of its shape");
  expect_refused(
      "{\"a\":{\"dtype\":\"U8\",\"shape\":[1" +
          [] {
            std::string ones;
            for (int i = 0; i < 64; ++i) ones += ",1";
            return ones;
          }() +
          "],\"data_offsets\":[0,1]}}",
      1, "more than 64 dims");
  EXPECT_NE(refusal(R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0)
                .find("too many elements"),
            std::string::npos);
}

TEST(SafetensorsTest, RefusesOffsetsThatDoNotFillTheFile) {
  const auto two = [](const char* first, const char* second) {
    return concat(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)", first,
                  R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)", second, "}}");
  };
  EXPECT_EQ(parsed(two("[0,2]", "[2,4]"), 4).entries.size(), 2U);
  expect_refused(two("[0,2]", "[1,3]"), 3, "b: overlaps another tensor: begins at 1, expected 2");
  expect_refused(two("[0,2]", "[0,2]"), 2, "b: overlaps another tensor");
  expect_refused(two("[0,2]", "[3,5]"), 5, "b: leaves a gap: begins at 3, expected 2");
  expect_refused(two("[1,3]", "[3,5]"), 5, "a: leaves a gap");
  expect_refused(two("[0,2]", "[4,2]"), 4, "b: ends before it begins: 4 to 2");
  expect_refused(two("[0,2]", "[2,4]"), 3, "b: ends after the file: at 4 of 3");
  expect_refused(two("[0,2]", "[2,4]"), 5, "bytes that belong to no tensor: 1 at the end");
  expect_refused(two("[0,2]", "[18446744073709551615,1]"), 4, "ends before it begins");
}

TEST(SafetensorsTest, WhatIsTooMuchIsRefusedAtOnce) {
  expect_refused("{\"a\":" + std::string(1'000'000, '['), 0, "did not expect an array");
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  expect_refused(objects, 0, "a: unknown field: a");
  expect_refused("{\"__metadata__\":" + objects, 0, "did not expect an object");
  std::string texts;
  for (int i = 0; i < 100'000; ++i) texts += concat(i == 0 ? "" : ",", '"', i, "\":\"\"");
  expect_refused("{\"__metadata__\":{" + texts + "}}", 0, "more than 65536 texts of metadata");
  const std::string digits(1'000'000, '9');
  EXPECT_LT(refusal("{\"a\":{\"shape\":[" + digits + "]}}", 0).size(), 200U);
  expect_refused("{\"" + std::string(5000, 'n') + "\":{}}", 0, "a name has more than 4096 bytes");
}

TEST(SafetensorsTest, ChecksTheLengthOfTheHeader) {
  const auto size = [](const std::string& prefix, std::uint64_t file_size) {
    return safetensors_header_size(std::as_bytes(std::span(prefix)), file_size, "m.safetensors");
  };
  const auto text = [&](const std::string& prefix, std::uint64_t file_size) {
    return testing::error_text<DataError>([&] { size(prefix, file_size); });
  };
  EXPECT_EQ(size(prefix_of(2), 10), 10U);
  EXPECT_NE(text(prefix_of(3), 10).find("cut off"), std::string::npos);
  EXPECT_NE(text("1234567", 7).find("shorter than 8 bytes"), std::string::npos);
  EXPECT_NE(text(prefix_of(UINT64_MAX), UINT64_MAX).find("limit 100000000"), std::string::npos);
  EXPECT_NE(text(prefix_of(100'000'001), std::uint64_t{1} << 40U).find("limit 100000000"), std::string::npos);
}

TEST(SafetensorsTest, ReadsTheHeaderOfARegularFileOnly) {
  const test::TemporaryFolder folder;
  const std::string json = R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}})";
  const auto file = folder.write("a.safetensors", prefix_of(json.size()) + json + "xyz");
  EXPECT_EQ(read_safetensors_header(file).entries.at(0).end, 8 + json.size() + 3);

  std::filesystem::create_symlink(file, folder / "link");
  ::mkfifo((folder / "fifo").c_str(), 0600);
  const auto text = [&](const char* name) {
    return testing::error_text<DataError>([&] { read_safetensors_header(folder / name); });
  };
  EXPECT_NE(text("link").find("links are not followed"), std::string::npos);
  EXPECT_NE(text("fifo").find("not a regular file"), std::string::npos);
  folder.write("empty", "");
  EXPECT_NE(text("empty").find("empty: not a safetensors file"), std::string::npos);
  folder.write("cut", prefix_of(json.size()) + json.substr(0, 20));
  EXPECT_NE(text("cut").find("cut: cut off"), std::string::npos);
  EXPECT_THROW(read_safetensors_header(folder / "nothing"), InputError);
}

TEST(SafetensorsTest, ReadsFilesThatOthersWrote) {
  TITAN_REQUIRE_VECTORS("llama3_tiny/model.safetensors");
  const SafetensorsHeader header =
      read_safetensors_header(testing::vectors_dir() / "llama3_tiny" / "model.safetensors");
  EXPECT_GT(header.entries.size(), 20U);
  for (const SafetensorsEntry& entry : header.entries) EXPECT_EQ(entry.tensor.dtype, DType::f32);
}

/// Writes a file of a million tensors.
void write_many_tensors(const std::filesystem::path& path, int count) {
  std::string json = "{";
  char entry[128];
  for (int i = 0; i < count; ++i) {
    std::snprintf(entry, sizeof entry, R"(%s"t%d":{"dtype":"F32","shape":[1],"data_offsets":[%d,%d]})",
                  i == 0 ? "" : ",", i, 4 * i, 4 * i + 4);
    json += entry;
  }
  json += "}";
  std::ofstream(path, std::ios::binary) << prefix_of(json.size()) << json
                                        << std::string(4 * static_cast<std::size_t>(count), 'x');
}

/// What a process that calls `action` and ends needs of processor and memory.
rusage used_by(const std::function<bool()>& action) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(action() ? 0 : 1);
  rusage used{};
  int status = -1;
  EXPECT_EQ(::wait4(child, &status, 0, &used), child);
  EXPECT_EQ(status, 0);
  return used;
}

// On an idle machine it takes half a second; processor time is measured, with room for a busy one and for sanitizers.
TEST(SafetensorsTest, AMillionTensorsTakeBoundedTimeAndMemory) {
  constexpr int kTensors = 1'000'000;
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "many.safetensors";
  write_many_tensors(path, kTensors);
  const rusage used = used_by([&] { return read_safetensors_header(path).entries.size() == kTensors; });
  const double seconds = static_cast<double>(used.ru_utime.tv_sec) + static_cast<double>(used.ru_utime.tv_usec) * 1e-6;
  EXPECT_LT(seconds, 5.0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const std::uint64_t limit = 2 * std::filesystem::file_size(path) + (std::uint64_t{64} << 20U);
  EXPECT_LT(static_cast<std::uint64_t>(used.ru_maxrss) * 1024, limit);
#endif
}

}  // namespace
}  // namespace titan::checkpoint
