#include "core/base/hashing.hpp"

#include <gtest/gtest.h>

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
