#include "core/data/bpe.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace titan::data {
namespace {

using Ids = std::vector<std::int64_t>;

/// Tables over the letters a to f, token of letter i is i, with random merges of tokens made so far.
BpeTables random_tables(unsigned seed, std::uint32_t merges) {
  BpeTables tables;
  tables.byte_tokens.fill(kNoToken);
  for (std::uint32_t i = 0; i < 6; ++i) tables.byte_tokens['a' + i] = i;
  std::mt19937 random(seed);
  std::uint32_t next = 6;
  for (std::uint32_t rank = 0; rank < merges; ++rank) {
    const auto left = static_cast<std::uint32_t>(random() % next);
    const auto right = static_cast<std::uint32_t>(random() % next);
    if (tables.merges.find(left, right).rank == kNoToken) tables.merges.set(left, right, {rank, next++});
  }
  return tables;
}

/// The definition: merge the leftmost pair of the lowest rank until there is none.
Ids merged_by_definition(const BpeTables& tables, const std::string& word) {
  Ids ids;
  for (const char c : word) ids.push_back(tables.byte_tokens[static_cast<unsigned char>(c)]);
  for (;;) {
    Merge best;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
      const Merge merge =
          tables.merges.find(static_cast<std::uint32_t>(ids[i]), static_cast<std::uint32_t>(ids[i + 1]));
      if (merge.rank < best.rank) {
        best = merge;
        at = i;
      }
    }
    if (best.rank == kNoToken) return ids;
    ids[at] = best.id;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

std::string random_word(std::mt19937& random, std::size_t longest) {
  std::string word(1 + random() % longest, 'a');
  for (char& c : word) c = static_cast<char>('a' + random() % 6);
  return word;
}

TEST(Bpe, MergesShortAndLongWordsByDefinition) {
  std::mt19937 random(3);
  for (unsigned seed = 0; seed < 20; ++seed) {
    const BpeTables tables = random_tables(seed, 60);
    BpeEncoder encoder(tables);
    for (int i = 0; i < 100; ++i) {
      const std::string word = random_word(random, i % 2 == 0 ? 12 : 300);
      Ids ids;
      encoder.encode(word, ids);
      ASSERT_EQ(ids, merged_by_definition(tables, word)) << word;
    }
  }
}

TEST(Bpe, GivesRememberedWordsAgain) {
  const BpeTables tables = random_tables(1, 60);
  BpeEncoder encoder(tables);
  std::mt19937 random(4);
  std::vector<std::string> words;
  for (int i = 0; i < 2000; ++i) words.push_back(random_word(random, 30));
  for (int round = 0; round < 2; ++round) {
    for (const std::string& word : words) {
      Ids ids = {99};
      encoder.encode(word, ids);
      Ids expected = merged_by_definition(tables, word);
      expected.insert(expected.begin(), 99);
      ASSERT_EQ(ids, expected) << word;
    }
  }
}

TEST(Bpe, DropsBytesWithoutTokenOrUsesTheUnknownOne) {
  BpeTables tables = random_tables(1, 0);
  Ids ids;
  BpeEncoder(tables).encode("axyb", ids);
  EXPECT_EQ(ids, (Ids{0, 1}));
  tables.unknown_token = 5;
  ids.clear();
  BpeEncoder(tables).encode("axyb", ids);
  EXPECT_EQ(ids, (Ids{0, 5, 5, 1}));
  tables.fuse_unknown = true;
  ids.clear();
  BpeEncoder(tables).encode("axybx", ids);
  EXPECT_EQ(ids, (Ids{0, 5, 1, 5}));
}

TEST(Bpe, TakesWholeWordsFirstWhenAsked) {
  BpeTables tables = random_tables(1, 0);
  tables.words.insert("abc", 77);
  Ids ids;
  BpeEncoder(tables).encode("abc", ids);
  EXPECT_EQ(ids, (Ids{0, 1, 2}));
  tables.whole_words_first = true;
  ids.clear();
  BpeEncoder(tables).encode("abc", ids);
  EXPECT_EQ(ids, (Ids{77}));
}

TEST(Bpe, HandlesVeryLongWords) {
  BpeTables tables = random_tables(1, 0);
  tables.merges.set(0, 0, {0, 6});
  tables.merges.set(6, 6, {1, 7});
  Ids ids;
  BpeEncoder(tables).encode(std::string(1'000'002, 'a'), ids);
  EXPECT_EQ(ids.size(), 250'001U);
  EXPECT_EQ(ids.front(), 7);
  EXPECT_EQ(ids.back(), 6);
}

}  // namespace
}  // namespace titan::data
