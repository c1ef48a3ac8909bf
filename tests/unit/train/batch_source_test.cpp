#include "core/train/batch_source.hpp"

#include <gtest/gtest.h>

#include "tests/support/vectors.hpp"
#include "tests/unit/base/temporary_folder.hpp"

namespace titan::train {
namespace {

class LoaderSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    TITAN_REQUIRE_VECTORS("tokenizer/tokenizer.json");
    folder_.write("text.txt", "one two three four five six seven eight nine ten");
    tokenizer_ = data::Tokenizer::load(titan::testing::vectors_dir() / "tokenizer");
  }

  LoaderSource open(bool repeat) const {
    data::LoaderOptions options;
    options.path = folder_ / "text.txt";
    options.length = 4;
    options.rows_per_batch = 1;
    options.repeat = repeat;
    return LoaderSource(data::Loader(options, tokenizer_));
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<const data::Tokenizer> tokenizer_;
};

TEST_F(LoaderSourceTest, HandsOutTheLoadersBatchesAndEnds) {
  LoaderSource source = open(false);
  int batches = 0;
  while (const auto batch = source.next()) {
    EXPECT_EQ(batch->rows, 1);
    EXPECT_EQ(batch->length, 4);
    ++batches;
  }
  EXPECT_GT(batches, 1);
  EXPECT_FALSE(source.next());
}

TEST_F(LoaderSourceTest, RewindsToTheBeginning) {
  for (const bool repeat : {true, false}) {
    LoaderSource source = open(repeat);
    const auto first = source.next();
    const auto second = source.next();
    ASSERT_TRUE(first && second);
    while (!repeat && source.next()) continue;
    source.rewind();
    EXPECT_EQ(source.next()->tokens, first->tokens);
    EXPECT_EQ(source.next()->tokens, second->tokens);
  }
}

TEST_F(LoaderSourceTest, RewindingAFreshSourceChangesNothing) {
  LoaderSource fresh = open(true);
  LoaderSource rewound = open(true);
  rewound.rewind();
  EXPECT_EQ(rewound.next()->tokens, fresh.next()->tokens);
}

}  // namespace
}  // namespace titan::train
