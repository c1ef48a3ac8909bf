#include "core/data/row_stream.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/data/expected_rows.hpp"

namespace titan::data {
namespace {

using testing::ExpectedRow;
using testing::ExpectedStream;

ExpectedRow row_of(const Batch& batch, std::int64_t row) {
  const auto cut = [&](const std::vector<std::int64_t>& array) {
    const auto begin = array.begin() + row * batch.length;
    return std::vector<std::int64_t>(begin, begin + batch.length);
  };
  return {cut(batch.tokens), cut(batch.labels), cut(batch.positions)};
}

class RowStreamTest : public ::testing::Test {
 protected:
  LoaderOptions options_for(const std::vector<std::string>& texts) {
    LoaderOptions options;
    options.path = folder_.write("x.jsonl", testing::json_lines(texts));
    options.length = 7;
    options.rows_per_batch = 3;
    options.num_virtual_shards = 4;
    return options;
  }
  RowStream open(const LoaderOptions& options) {
    return {options, std::make_shared<testing::ByteTokenizer>(), nullptr};
  }

  test::TemporaryFolder folder_;
};

TEST_F(RowStreamTest, EveryDegreeGivesTheSameRows) {
  const std::vector<std::string> texts = testing::some_texts(23);
  for (const std::int64_t shards : {1, 3, 4, 128}) {
    for (const bool shuffle : {false, true}) {
      LoaderOptions options = options_for(texts);
      options.num_virtual_shards = shards;
      options.shuffle = shuffle;
      const ExpectedStream expected(texts, options);
      for (const std::int64_t degree : {1, 2, 3, 4, 7}) {
        for (std::int64_t rank = 0; rank < degree; ++rank) {
          options.dp_degree = degree;
          options.dp_rank = rank;
          RowStream stream = open(options);
          for (std::int64_t n = 0; n < 12; ++n) {
            const auto batch = stream.next();
            for (std::int64_t r = 0; r < 3; ++r) {
              const auto row = static_cast<std::size_t>((n * 3 + r) * degree + rank);
              ASSERT_EQ(row_of(*batch, r), expected.row(row, 80)) << "row " << row << " degree " << degree;
            }
          }
        }
      }
    }
  }
}

TEST_F(RowStreamTest, ADegreeThatDividesTheShardsReadsItsOwnOnly) {
  LoaderOptions options = options_for(testing::some_texts(23));
  options.dp_degree = 2;
  options.dp_rank = 1;
  const StreamPosition position = open(options).position();
  ASSERT_EQ(position.cursors.size(), 2U);
  EXPECT_EQ(position.cursors.count(1), 1U);
  EXPECT_EQ(position.cursors.count(3), 1U);
  options.dp_degree = 3;
  EXPECT_EQ(open(options).position().cursors.size(), 4U);
}

TEST_F(RowStreamTest, NoTargetLiesInAnotherDocument) {
  LoaderOptions options = options_for(testing::some_texts(50));
  options.length = 16;
  RowStream stream = open(options);
  int starts_inside = 0;
  for (int n = 0; n < 30; ++n) {
    const Batch batch = *stream.next();
    EXPECT_EQ(batch.num_valid, 3 * 16);
    for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
      EXPECT_NE(batch.tokens[i], testing::ByteTokenizer::kEos);
      EXPECT_NE(batch.labels[i], testing::ByteTokenizer::kBos);
      if (i % 16 == 0) {
        EXPECT_EQ(batch.positions[i], 0);
        continue;
      }
      EXPECT_TRUE(batch.positions[i] == batch.positions[i - 1] + 1 || batch.positions[i] == 0);
      EXPECT_EQ(batch.positions[i] == 0, batch.tokens[i] == testing::ByteTokenizer::kBos);
      if (batch.positions[i] == 0) {
        ++starts_inside;
        EXPECT_EQ(batch.labels[i - 1], testing::ByteTokenizer::kEos);
      } else {
        EXPECT_EQ(batch.labels[i - 1], batch.tokens[i]);
      }
    }
  }
  EXPECT_GT(starts_inside, 10);
}

TEST_F(RowStreamTest, EachEpochHasAnotherOrder) {
  const std::vector<std::string> texts = {"b", "c", "d", "e", "f", "g", "h", "i"};
  LoaderOptions options = options_for(texts);
  options.num_virtual_shards = 1;
  options.length = 2;  // one document a row
  options.rows_per_batch = 8;
  RowStream stream = open(options);
  std::set<std::vector<std::int64_t>> orders;
  for (int epoch = 0; epoch < 4; ++epoch) {
    const Batch batch = *stream.next();
    orders.insert(batch.tokens);
    std::set<std::int64_t> seen(batch.tokens.begin(), batch.tokens.end());
    EXPECT_EQ(seen.size(), 9U);  // every document once, and BOS
  }
  EXPECT_EQ(orders.size(), 4U);
}

TEST_F(RowStreamTest, WithoutRepetitionEndsAtTheFirstRowThatIsNotFull) {
  const std::vector<std::string> texts = testing::some_texts(23);
  LoaderOptions options = options_for(texts);
  options.repeat = false;
  options.rows_per_batch = 1;
  const ExpectedStream expected(texts, options);
  std::size_t full = 0;
  while (expected.row(full, 1).tokens.size() == 7) ++full;
  ASSERT_GT(full, 8U);
  for (const std::int64_t degree : {1, 2, 3}) {
    // All ranks together stop at the same row: that of the rank that stops first.
    std::size_t first_missing = SIZE_MAX;
    for (std::int64_t rank = 0; rank < degree; ++rank) {
      options.dp_degree = degree;
      options.dp_rank = rank;
      RowStream stream = open(options);
      auto row = static_cast<std::size_t>(rank);
      for (auto batch = stream.next(); batch; batch = stream.next(), row += static_cast<std::size_t>(degree)) {
        ASSERT_EQ(row_of(*batch, 0), expected.row(row, 1));
      }
      first_missing = std::min(first_missing, row);
      EXPECT_FALSE(stream.next());
    }
    EXPECT_EQ(first_missing, full);
  }
}

TEST_F(RowStreamTest, PaddingLeavesNothingOut) {
  const std::vector<std::string> texts = testing::some_texts(23);
  std::int64_t pairs = 0;
  for (const std::string& text : texts) pairs += static_cast<std::int64_t>(text.size()) + 1;
  for (const std::int64_t shards : {1, 4, 128}) {
    for (const std::int64_t degree : {1, 2, 3, 7}) {
      std::int64_t valid = 0;
      for (std::int64_t rank = 0; rank < degree; ++rank) {
        LoaderOptions options = options_for(texts);
        options.num_virtual_shards = shards;
        options.repeat = false;
        options.tail = Tail::pad;
        options.dp_degree = degree;
        options.dp_rank = rank;
        RowStream stream = open(options);
        for (auto batch = stream.next(); batch; batch = stream.next()) {
          EXPECT_GT(batch->num_valid, 0);
          valid += batch->num_valid;
          for (std::size_t i = 0; i < batch->labels.size(); ++i) {
            EXPECT_LT(batch->positions[i], 7);
            EXPECT_TRUE(batch->labels[i] != kIgnoredLabel || batch->tokens[i] == testing::ByteTokenizer::kEos);
          }
        }
      }
      EXPECT_EQ(valid, pairs) << shards << " shards, degree " << degree;
    }
  }
}

TEST_F(RowStreamTest, RefusesImpossibleSizes) {
  const auto refusal = [&](auto change) {
    LoaderOptions options = options_for({"a"});
    change(options);
    return testing::error_text<ConfigError>([&] { open(options); });
  };
  EXPECT_NE(refusal([](auto& o) { o.length = 0; }).find("training.max_context_length"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.rows_per_batch = 0; }).find("rows a batch"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.rows_per_batch = INT64_MAX; }).find("rows a batch"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.num_virtual_shards = 0; }).find("between 1 and 65536: 0"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.num_prefetch_batches = -1; }).find("num_prefetch_batches"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.dp_rank = 1; }).find("data-parallel rank"), std::string::npos);
  EXPECT_NE(refusal([](auto& o) { o.dp_degree = 0; }).find("data-parallel degree"), std::string::npos);
}

TEST_F(RowStreamTest, RefusesPositionsThatContradictThemselves) {
  RowStream stream = open(options_for(testing::some_texts(23)));
  stream.next();
  StreamPosition position = stream.position();
  position.rows = 0;
  EXPECT_NE(testing::error_text<DataError>([&] { stream.restore(position); }).find("contradicts itself"),
            std::string::npos);
  position = stream.position();
  position.rows = INT64_MAX;
  EXPECT_NE(testing::error_text<DataError>([&] { stream.restore(position); }).find("contradicts itself"),
            std::string::npos);
  position = stream.position();
  position.cursors.erase(2);
  EXPECT_NE(testing::error_text<DataError>([&] { stream.restore(position); }).find("lacks a shard"), std::string::npos);
}

}  // namespace
}  // namespace titan::data
