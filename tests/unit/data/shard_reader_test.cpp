#include "core/data/shard_reader.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/data/byte_tokenizer.hpp"
#include "tests/unit/data/expected_rows.hpp"

namespace titan::data {
namespace {

using Ids = std::vector<std::int64_t>;

/// Gives no token at all.
class SilentTokenizer : public testing::ByteTokenizer {
 public:
  Ids encode(std::string_view /*text*/, bool /*add_bos*/, bool /*add_eos*/) const override { return {}; }
};

class ShardReaderTest : public ::testing::Test {
 protected:
  ShardReader open(const std::vector<std::string>& texts, std::int64_t length, bool repeat) {
    corpus_ = std::make_unique<Corpus>(folder_.write("x.jsonl", testing::json_lines(texts)));
    source_ = {.corpus = corpus_.get(), .tokenizer = &tokenizer_, .length = length, .shuffle = false, .repeat = repeat};
    tokens_.assign(static_cast<std::size_t>(length), -1);
    labels_ = positions_ = tokens_;
    return {source_, 0, 0, texts.size()};
  }

  std::int64_t take(ShardReader& reader) {
    return reader.take_row({tokens_.data(), labels_.data(), positions_.data()});
  }

  test::TemporaryFolder folder_;
  testing::ByteTokenizer tokenizer_;
  std::unique_ptr<Corpus> corpus_;
  ShardSource source_;
  Ids tokens_, labels_, positions_;
};

constexpr std::int64_t kBos = testing::ByteTokenizer::kBos;
constexpr std::int64_t kEos = testing::ByteTokenizer::kEos;
constexpr std::int64_t a = 'a' + 2, b = 'b' + 2, c = 'c' + 2, d = 'd' + 2;

TEST_F(ShardReaderTest, PacksPairsOfEachDocument) {
  ShardReader reader = open({"ab", "", "cd"}, 7, true);
  ASSERT_EQ(take(reader), 7);
  EXPECT_EQ(tokens_, (Ids{kBos, a, b, kBos, kBos, c, d}));
  EXPECT_EQ(labels_, (Ids{a, b, kEos, kEos, c, d, kEos}));
  EXPECT_EQ(positions_, (Ids{0, 1, 2, 0, 0, 1, 2}));
}

TEST_F(ShardReaderTest, ADocumentGoesOnInTheNextRow) {
  ShardReader reader = open({"abcd", "a"}, 3, true);
  take(reader);
  EXPECT_EQ(tokens_, (Ids{kBos, a, b}));
  EXPECT_EQ(labels_, (Ids{a, b, c}));
  EXPECT_EQ(reader.cursor().pair, 3);
  take(reader);
  EXPECT_EQ(tokens_, (Ids{c, d, kBos}));
  EXPECT_EQ(labels_, (Ids{d, kEos, a}));
  EXPECT_EQ(positions_, (Ids{0, 1, 0}));
}

TEST_F(ShardReaderTest, RowsReachAcrossEpochs) {
  ShardReader reader = open({"ab"}, 2, true);
  for (const Ids& expected : {Ids{kBos, a}, Ids{b, kBos}, Ids{a, b}}) {
    ASSERT_EQ(take(reader), 2);
    EXPECT_EQ(tokens_, expected);
  }
  EXPECT_EQ(reader.cursor().epoch, 1);
  EXPECT_EQ(reader.cursor().rows, 3);
}

TEST_F(ShardReaderTest, EndsWithoutRepetition) {
  ShardReader reader = open({"ab", "c"}, 4, false);
  EXPECT_EQ(take(reader), 4);
  EXPECT_FALSE(reader.is_finished());
  EXPECT_EQ(take(reader), 1);
  EXPECT_TRUE(reader.is_finished());
  EXPECT_EQ(take(reader), 0);
  EXPECT_EQ(reader.cursor().rows, 2);
}

TEST_F(ShardReaderTest, SkippingMovesAsTakingDoes) {
  const std::vector<std::string> texts = testing::some_texts(20);
  ShardReader taking = open(texts, 5, true);
  ShardReader skipping = taking;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(take(taking), skipping.skip_row());
    EXPECT_EQ(taking.cursor().document, skipping.cursor().document);
    EXPECT_EQ(taking.cursor().pair, skipping.cursor().pair);
  }
  EXPECT_GT(taking.cursor().epoch, 0);
}

TEST_F(ShardReaderTest, RestoresEveryPlace) {
  ShardReader reader = open(testing::some_texts(10), 6, true);
  for (int i = 0; i < 60; ++i) {
    const Cursor cursor = reader.cursor();
    take(reader);
    const Ids expected = tokens_;
    ShardReader other(source_, 0, 0, 10);
    other.restore(cursor);
    take(other);
    ASSERT_EQ(tokens_, expected) << i;
  }
}

TEST_F(ShardReaderTest, RefusesPlacesThatAreNotThere) {
  ShardReader reader = open({"ab", "c"}, 4, true);
  for (const Cursor& cursor : {Cursor{.document = 3}, Cursor{.document = 2, .pair = 1}, Cursor{.pair = -1},
                               Cursor{.rows = -1}, Cursor{.epoch = -1}}) {
    EXPECT_THROW(reader.restore(cursor), DataError);
  }
  reader.restore({.pair = 3});  // "ab" has three pairs: 0 to 2
  EXPECT_NE(testing::error_text<DataError>([&] { take(reader); }).find("a place that the data does not have"),
            std::string::npos);
}

TEST_F(ShardReaderTest, RefusesAnEpochWithoutPairs) {
  open({"ab", "c"}, 4, true);
  const SilentTokenizer silent;
  source_.tokenizer = &silent;
  ShardReader reader(source_, 0, 0, 2);
  EXPECT_NE(testing::error_text<DataError>([&] { take(reader); }).find("no document of a virtual shard has two tokens"),
            std::string::npos);
  source_.repeat = false;
  EXPECT_EQ(ShardReader(source_, 0, 0, 2).skip_row(), 0);
}

}  // namespace
}  // namespace titan::data
