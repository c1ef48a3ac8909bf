#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/schedule/render.hpp"
#include "tests/unit/schedule/tables.hpp"

namespace titan::schedule {
namespace {

TEST(RenderText, DrawsOneLineARank) {
  const Table table = two_ranks();
  EXPECT_EQ(render_text(table, simulate_time(table)),
            "rank 0  | 0F0 0F1 .   0B0 .   0B1\n"
            "rank 1  | .   1F0 1B0 1F1 1B1 .\n"
            "bubble share 33.3 % of 6 units, peak live micro-batches by rank: 2, 1\n");
}

TEST(RenderText, LongerActionsTakeMoreRoom) {
  const Table table = two_ranks();
  EXPECT_THAT(render_text(table, simulate_time(table, {.forward = 1, .backward = 2})),
              ::testing::HasSubstr("rank 1  | .   1F0 1B0     1F1 1B1     .   .\n"));
}

TEST(RenderText, NamesTheBlocksOfEachStage) {
  EXPECT_EQ(render_stages(two_ranks()),
            "stage 0, rank 0: tok_embeddings, layers.0\n"
            "stage 1, rank 1: layers.1, output\n");
}

TEST(RenderText, SaysThatAPassIsForwardOnly) {
  Table table = two_ranks();
  table.training = false;
  EXPECT_THAT(render_text(table, simulate_time(table)), ::testing::HasSubstr("forward only: bubble share"));
}

}  // namespace
}  // namespace titan::schedule
