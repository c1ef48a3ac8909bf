#include "core/base/hashing.hpp"

#include <gtest/gtest.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <set>

#include "tests/unit/base/temporary_folder.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan {
namespace {

TEST(HashingTest, MatchesTheAlgorithmsPublishedValues) {
  // XXH3 of the empty input, from the reference implementation.
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2ULL);
  EXPECT_EQ(hash128(""), "99aa06d3014798d86001c324468d497f");
}

TEST(HashingTest, SeedAndBytesBothCount) {
  const std::set<std::uint64_t> hashes = {hash64("a"), hash64("a", 1), hash64("b"), hash64(std::string_view("a\0", 2))};
  EXPECT_EQ(hashes.size(), 4U);
}

TEST(HashingTest, PiecesEqualTheWhole) {
  std::string bytes;
  for (std::size_t i = 0; i < 10'000; ++i) bytes += static_cast<char>(i * 31 % 251);
  Hash128 hash;
  for (std::size_t begin = 0, size = 1; begin < bytes.size(); begin += size, size = size * 3 + 1) {
    hash.update(std::as_bytes(std::span(bytes).subspan(begin, std::min(size, bytes.size() - begin))));
    EXPECT_EQ(hash.digest(), hash128(std::string_view(bytes).substr(0, begin + size)));
  }
  Hash128 moved = std::move(hash);
  EXPECT_EQ(moved.digest(), hash128(bytes));
  moved.reset();
  EXPECT_EQ(moved.digest(), hash128(""));
}

TEST(HashingTest, EqualsTheLibraryWhateverTheProcessorHas) {
  const std::string bytes = [] {
    std::string made;
    for (std::size_t i = 0; i < 5'000; ++i) made += static_cast<char>(i * 31 % 251);
    return made;
  }();
  for (const std::size_t size : {1U, 3U, 16U, 17U, 128U, 129U, 240U, 241U, 1024U, 4999U}) {
    XXH128_canonical_t expected;
    XXH128_canonicalFromHash(&expected, XXH3_128bits(bytes.data(), size));
    std::string digits;
    for (const unsigned char byte : expected.digest) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      digits += kDigits[byte / 16];
      digits += kDigits[byte % 16];
    }
    EXPECT_EQ(hash128(std::string_view(bytes).substr(0, size)), digits) << size;
  }
}

TEST(HashingTest, FileEqualsItsBytes) {
  const test::TemporaryFolder folder;
  std::string bytes;
  for (std::size_t i = 0; i < 3'000'000; ++i) bytes += static_cast<char>(i * 31 % 251);
  EXPECT_EQ(hash128_file(folder.write("x", bytes)), hash128(bytes));
  EXPECT_EQ(hash128_file(folder.write("empty", "")), hash128(""));
}

TEST(HashingTest, MissingFileIsNoInput) {
  EXPECT_EQ(test::thrown_by([] { return hash128_file("/nonexistent/x"); }).exit, Exit::no_input);
}

}  // namespace
}  // namespace titan
