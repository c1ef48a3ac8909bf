#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/checkpoint/safetensors.hpp"

namespace titan::checkpoint {
namespace {

TEST(SafetensorsWriteTest, WritesWhatItReads) {
  std::vector<SafetensorsEntry> entries = {{{"b \"quoted\" \n \xc3\xa9", DType::f64, {2, 2}}, 0, 0},
                                           {{"a", DType::bf16, {}}, 0, 0},
                                           {{"none", DType::i8, {0}}, 0, 0}};
  const std::map<std::string, std::string> metadata = {{"format", "titan"}, {"parts", "{\"a\": 1}"}};
  const std::string text = write_safetensors_header(entries, metadata, 4096);
  ASSERT_EQ(text.size() % 4096, 0U);
  EXPECT_EQ(entries[0].begin, text.size());
  EXPECT_EQ(entries[1].begin, text.size() + 32);
  EXPECT_EQ(entries[2].end, text.size() + 34);
  const std::uint64_t file_size = text.size() + 34;
  ASSERT_EQ(safetensors_header_size(std::as_bytes(std::span(text)), file_size, "s"), text.size());
  const SafetensorsHeader header = read_safetensors_header(text.substr(8), text.size(), file_size, "s");
  EXPECT_EQ(header.metadata, metadata);
  ASSERT_EQ(header.entries.size(), 3U);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(header.entries[i].tensor, entries[i].tensor);
    EXPECT_EQ(header.entries[i].begin, entries[i].begin);
    EXPECT_EQ(header.entries[i].end, entries[i].end);
  }
}

TEST(SafetensorsWriteTest, WritesNoHeaderThatItWouldRefuse) {
  std::vector<SafetensorsEntry> none;
  EXPECT_EQ(write_safetensors_header(none, {}, 8), std::string("\x08\0\0\0\0\0\0\0{}      ", 16));
  std::vector<SafetensorsEntry> twice = {{{"a", DType::u8, {1}}, 0, 0}, {{"a", DType::u8, {1}}, 0, 0}};
  EXPECT_THROW(write_safetensors_header(twice, {}, 8), InternalError);
  std::vector<SafetensorsEntry> reserved = {{{"__metadata__", DType::u8, {1}}, 0, 0}};
  EXPECT_THROW(write_safetensors_header(reserved, {}, 8), InternalError);
  std::vector<SafetensorsEntry> bytes = {{{"\xff", DType::u8, {1}}, 0, 0}};
  EXPECT_THROW(write_safetensors_header(bytes, {}, 8), DataError);
}

}  // namespace
}  // namespace titan::checkpoint
