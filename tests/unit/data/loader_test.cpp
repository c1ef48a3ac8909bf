#include "core/data/loader.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/data/expected_rows.hpp"

namespace titan::data {
namespace {

using Ids = std::vector<std::int64_t>;

class LoaderTest : public ::testing::Test {
 protected:
  LoaderTest() { options_ = options_for(testing::some_texts(23)); }

  LoaderOptions options_for(const std::vector<std::string>& texts) {
    LoaderOptions options;
    options.path = folder_.write("x.jsonl", testing::json_lines(texts));
    options.length = 7;
    options.rows_per_batch = 3;
    options.num_virtual_shards = 4;
    return options;
  }
  Loader open(const LoaderOptions& options) { return {options, tokenizer_}; }
  Loader open_rank(std::int64_t rank, std::int64_t degree) {
    LoaderOptions options = options_;
    options.dp_rank = rank;
    options.dp_degree = degree;
    return open(options);
  }

  /// All of the next batches in one line of numbers.
  static Ids take(Loader& loader, int batches) {
    Ids all;
    for (int i = 0; i < batches; ++i) {
      const Batch batch = loader.next().value();
      for (const auto* array : {&batch.tokens, &batch.labels, &batch.positions}) {
        all.insert(all.end(), array->begin(), array->end());
      }
    }
    return all;
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<const Tokenizer> tokenizer_ = std::make_shared<testing::ByteTokenizer>();
  LoaderOptions options_;
};

TEST_F(LoaderTest, PrefetchingChangesNothing) {
  options_.num_prefetch_batches = 0;
  Loader plain = open(options_);
  const Ids expected = take(plain, 40);
  for (const std::int64_t batches : {1, 2, 7}) {
    options_.num_prefetch_batches = batches;
    Loader loader = open(options_);
    EXPECT_EQ(take(loader, 40), expected);
    EXPECT_EQ(loader.state(), plain.state());
  }
}

TEST_F(LoaderTest, TwoRunsAreEqualAndSeedsDiffer) {
  Loader one = open(options_);
  Loader two = open(options_);
  const Ids expected = take(one, 20);
  EXPECT_EQ(take(two, 20), expected);
  options_.seed = 43;
  Loader other = open(options_);
  EXPECT_NE(take(other, 20), expected);
}

TEST_F(LoaderTest, ResumesAtEveryBatch) {
  Loader loader = open(options_);
  std::vector<std::string> states;
  std::vector<Ids> batches;
  for (int i = 0; i < 60; ++i) {
    states.push_back(loader.state());
    batches.push_back(take(loader, 1));
  }
  // The run reaches over epochs.
  EXPECT_GT(nlohmann::json::parse(loader.state()).at("cursors").at(0).at(2), 1);
  for (std::size_t i = 0; i + 8 < states.size(); ++i) {
    Loader resumed = open(options_);
    resumed.load_state(states[i]);
    EXPECT_EQ(resumed.state(), states[i]);
    for (std::size_t k = 0; k < 8; ++k) ASSERT_EQ(take(resumed, 1), batches[i + k]) << "state " << i << " batch " << k;
    EXPECT_EQ(resumed.state(), states[i + 8]);
  }
}

TEST_F(LoaderTest, ResumesUnderAnyDegree) {
  // 84 rows a step under every degree; the union of the ranks' rows must not depend on it.
  const auto step = [](std::vector<Loader>& ranks) {
    std::multiset<Ids> rows;
    for (Loader& rank : ranks) {
      for (std::size_t k = 0; k < 84 / ranks.size(); ++k) {
        const Batch batch = rank.next().value();
        Ids row = batch.tokens;
        row.insert(row.end(), batch.labels.begin(), batch.labels.end());
        row.insert(row.end(), batch.positions.begin(), batch.positions.end());
        rows.insert(row);
      }
    }
    return rows;
  };
  options_.rows_per_batch = 1;
  const auto open_all = [&](std::int64_t degree) {
    std::vector<Loader> ranks;
    for (std::int64_t rank = 0; rank < degree; ++rank) ranks.push_back(open_rank(rank, degree));
    return ranks;
  };
  std::vector<Loader> reference = open_all(1);
  std::vector<std::multiset<Ids>> expected;
  for (int i = 0; i < 6; ++i) expected.push_back(step(reference));
  for (const std::int64_t before : {1, 2, 3, 4, 7}) {
    std::vector<Loader> ranks = open_all(before);
    for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(step(ranks), expected[i]);
    std::vector<std::string> states;
    for (const Loader& rank : ranks) states.push_back(rank.state());
    const std::string merged = Loader::merge_states(states);
    for (const std::int64_t after : {1, 2, 3, 4, 7}) {
      std::vector<Loader> resumed = open_all(after);
      for (Loader& rank : resumed) rank.load_state(merged);
      for (std::size_t i = 3; i < 6; ++i) ASSERT_EQ(step(resumed), expected[i]) << before << " -> " << after;
    }
  }
}

TEST_F(LoaderTest, AStateOfSomeShardsIsNotEnoughForOthers) {
  Loader half = open_rank(1, 2);
  take(half, 2);
  Loader whole = open_rank(0, 1);
  take(whole, 3);
  const std::string before = whole.state();
  EXPECT_NE(
      testing::error_text<DataError>([&] { whole.load_state(half.state()); }).find("merge the states of all ranks"),
      std::string::npos);
  // The loader goes on where it was.
  EXPECT_EQ(whole.state(), before);
  Loader other = open_rank(0, 1);
  take(other, 3);
  EXPECT_EQ(take(whole, 5), take(other, 5));
}

TEST_F(LoaderTest, RefusesStatesOfOtherStreams) {
  Loader loader = open(options_);
  take(loader, 1);
  const std::string state = loader.state();
  LoaderOptions other = options_;
  other.length = 8;
  EXPECT_NE(
      testing::error_text<DataError>([&] { open(other).load_state(state); }).find("row length 7 when saved, 8 now"),
      std::string::npos);
  EXPECT_NE(testing::error_text<DataError>([&] {
              Loader(options_, std::make_shared<testing::ByteTokenizer>("new")).load_state(state);
            }).find("tokenizer with the hash bytes when saved, new now"),
            std::string::npos);
  EXPECT_NE(testing::error_text<DataError>([&] {
              open(options_for(testing::some_texts(22))).load_state(state);
            }).find("number of documents 23 when saved, 22 now"),
            std::string::npos);
}

TEST_F(LoaderTest, LoadsAStateInTheMiddle) {
  Loader loader = open(options_);
  take(loader, 2);
  const std::string state = loader.state();
  const Ids expected = take(loader, 3);
  take(loader, 10);
  loader.load_state(state);
  EXPECT_EQ(take(loader, 3), expected);
}

TEST_F(LoaderTest, SaysWhatItReads) {
  const Loader loader = open(options_);
  EXPECT_EQ(loader.dataset().files, 1);
  EXPECT_EQ(loader.dataset().documents, 23);
  EXPECT_EQ(loader.dataset().shards, 4);
  options_.num_virtual_shards = 128;
  EXPECT_EQ(open(options_).dataset().shards, 23);
}

TEST_F(LoaderTest, EndsWithoutRepetition) {
  options_.repeat = false;
  for (const std::int64_t prefetch : {0, 2}) {
    options_.num_prefetch_batches = prefetch;
    Loader loader = open(options_);
    int batches = 0;
    while (loader.next()) ++batches;
    EXPECT_GT(batches, 2);
    EXPECT_FALSE(loader.next());
    // The state is that of the last batch, from which the end follows again.
    Loader again = open(options_);
    again.load_state(loader.state());
    EXPECT_FALSE(again.next());
  }
}

TEST_F(LoaderTest, BrokenLinesEndTheStreamForGood) {
  options_.path = folder_.write("broken.jsonl", testing::json_lines(testing::some_texts(10)) + "{\"text\": }\n");
  options_.shuffle = false;
  options_.num_virtual_shards = 1;
  for (const std::int64_t prefetch : {0, 3}) {
    options_.num_prefetch_batches = prefetch;
    Loader loader = open(options_);
    const auto read_all = [&] {
      while (loader.next()) {
      }
    };
    EXPECT_NE(testing::error_text<DataError>(read_all).find("broken.jsonl:11: column 10"), std::string::npos);
    EXPECT_THROW(loader.next(), DataError);
  }
}

TEST_F(LoaderTest, NamesWhatIsMissing) {
  options_.path = folder_.path() / "none";
  EXPECT_THROW(open(options_), InputError);
  options_.path = folder_.write("empty.jsonl", "");
  EXPECT_THROW(open(options_), InputError);
}

TEST_F(LoaderTest, StopsWhenAsked) {
  for (const std::int64_t prefetch : {0, 2}) {
    options_.num_prefetch_batches = prefetch;
    StopFlag stop;
    Loader loader(options_, tokenizer_, &stop);
    EXPECT_TRUE(loader.next());
    stop.request(15);
    EXPECT_THROW(
        {
          for (int i = 0; i < 100; ++i) loader.next();
        },
        Interrupted);
  }
}

TEST_F(LoaderTest, GoesAwayAtAnyTime) {
  for (int taken = 0; taken < 5; ++taken) {
    Loader loader = open(options_);
    take(loader, taken);
    Loader moved = std::move(loader);
    take(moved, 1);
  }
}

}  // namespace
}  // namespace titan::data
