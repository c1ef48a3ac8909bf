#include "core/config/sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/base/error.hpp"

namespace titan::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal(const SizeOptions& options) {
  try {
    plan_sizes(options);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Sizes, TheDefaultIsOneMicroBatch) {
  const Sizes sizes = plan_sizes({16384, -1, 2048});
  EXPECT_EQ(sizes.rows, 8);
  EXPECT_EQ(sizes.length, 2048);
  EXPECT_EQ(sizes.num_micro_batches, 1);
  EXPECT_EQ(describe(sizes), "8 rows x 2048 tokens x 1 micro-batch = 16384 tokens");
}

TEST(Sizes, AStepOfMoreTokensAccumulates) {
  const Sizes sizes = plan_sizes({16384, 65536, 2048});
  EXPECT_EQ(sizes.num_micro_batches, 4);
  EXPECT_EQ(sizes.tokens_per_step(), 65536);
  EXPECT_EQ(describe(plan_sizes({128, 256, 128})), "1 row x 128 tokens x 2 micro-batches = 256 tokens");
}

TEST(Sizes, RanksShareAStep) { EXPECT_EQ(plan_sizes({1024, 8192, 512, 4}).num_micro_batches, 2); }

TEST(Sizes, APipelineTakesWholeGroups) {
  const SizeOptions one_group{128, -1, 128, 1, 2, 4};
  EXPECT_EQ(plan_sizes(one_group).num_micro_batches, 4) << "by default a step is one group";
  EXPECT_EQ(describe(plan_sizes(one_group)),
            "1 row x 128 tokens x 4 micro-batches = 512 tokens, 4 at a time through the pipeline");
  const Sizes two = plan_sizes({128, 1024, 128, 1, 2, 4});
  EXPECT_EQ(two.num_micro_batches, 8);
  EXPECT_EQ(two.group, 4);
  EXPECT_THAT(refusal({128, 768, 128, 1, 2, 4}),
              HasSubstr("must be a multiple of parallelism.num_pp_microbatches: 6 = 1 x 4 + 2"));
  EXPECT_EQ(plan_sizes({128, 768, 128, 1, 1, 4}).group, 1) << "without a pipeline there are no groups";
}

TEST(Sizes, RefusesAContextThatDoesNotDivideAndShowsTheArithmetic) {
  EXPECT_THAT(refusal({1000, -1, 128}),
              AllOf(HasSubstr("training.num_tokens_per_microbatch_per_dp_rank"),
                    HasSubstr("training.max_context_length"), HasSubstr("1000 = 7 x 128 + 104")));
}

TEST(Sizes, RefusesAMicroBatchThatDoesNotDivideTheStep) {
  EXPECT_THAT(refusal({1024, 1500, 512}),
              AllOf(HasSubstr("training.num_tokens_per_train_step"), HasSubstr("1500 = 1 x 1024 + 476")));
  EXPECT_THAT(refusal({1024, 1024, 512, 4}), AllOf(HasSubstr("1024 x 4"), HasSubstr("1024 = 0 x 4096 + 1024")));
}

TEST(Sizes, RefusesNumbersWithoutMeaning) {
  EXPECT_THAT(refusal({0, -1, 128}), HasSubstr("num_tokens_per_microbatch_per_dp_rank must be at least 1"));
  EXPECT_THAT(refusal({128, -1, 0}), HasSubstr("max_context_length must be at least 1"));
  EXPECT_THAT(refusal({128, 0, 128}), HasSubstr("num_tokens_per_train_step must be -1"));
  EXPECT_THAT(refusal({128, -2, 128}), HasSubstr("num_tokens_per_train_step must be -1"));
  EXPECT_THAT(refusal({std::numeric_limits<std::int64_t>::max(), -1, 1, 2}), HasSubstr("too large"));
  EXPECT_THAT(refusal({1LL << 61, -1, 1, 1, 2, 4}),
              HasSubstr("times parallelism.num_pp_microbatches is too large: 2305843009213693952 x 4"));
}

}  // namespace
}  // namespace titan::config
