#include "core/data/byte_alphabet.hpp"

#include <gtest/gtest.h>

#include <set>

namespace titan::data {
namespace {

TEST(ByteAlphabet, HasKnownSymbols) {
  EXPECT_EQ(byte_symbol('A'), "A");
  EXPECT_EQ(byte_symbol('~'), "~");
  EXPECT_EQ(byte_symbol(' '), "\xC4\xA0");
  EXPECT_EQ(byte_symbol('\n'), "\xC4\x8A");
  EXPECT_EQ(byte_symbol(0x00), "\xC4\x80");
  EXPECT_EQ(byte_symbol(0xAD), "\xC5\x83");
  EXPECT_EQ(byte_symbol(0xE9), "\xC3\xA9");
}

TEST(ByteAlphabet, IsOneToOne) {
  std::set<std::string> seen;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const std::string symbol(byte_symbol(static_cast<std::uint8_t>(byte)));
    EXPECT_TRUE(seen.insert(symbol).second);
    std::string bytes;
    EXPECT_TRUE(append_spelled_bytes(bytes, symbol));
    EXPECT_EQ(bytes, std::string(1, static_cast<char>(byte)));
  }
}

TEST(ByteAlphabet, LeavesForeignEntriesAsTheyAre) {
  std::string bytes = "x";
  EXPECT_FALSE(append_spelled_bytes(bytes, "a b"));
  EXPECT_EQ(bytes, "xa b");
  EXPECT_FALSE(append_spelled_bytes(bytes, "\xE4\xB8\xAD"));
  EXPECT_EQ(bytes, "xa b\xE4\xB8\xAD");
}

}  // namespace
}  // namespace titan::data
