#include "core/comm/description.hpp"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace titan::comm {
namespace {

TEST(RankList, JoinsRuns) {
  EXPECT_EQ(rank_list({}), "");
  EXPECT_EQ(rank_list({3}), "3");
  EXPECT_EQ(rank_list({0, 1}), "0, 1");
  EXPECT_EQ(rank_list({0, 1, 2, 3, 7, 9, 10, 11}), "0-3, 7, 9-11");
  EXPECT_EQ(named_ranks({4}), "rank 4");
  EXPECT_EQ(named_ranks({0, 2, 4}), "ranks 0, 2, 4");
}

TEST(Seconds, HaveOneDecimal) {
  EXPECT_EQ(seconds_text(0), "0.0 s");
  EXPECT_EQ(seconds_text(1'949'000'000), "1.9 s");
  EXPECT_EQ(seconds_text(1'950'000'000), "2.0 s");
}

TEST(Description, NamesTheCallForPeople) {
  WorkRecord record;
  record.op = "all_reduce";
  record.sequence = 17;
  record.group = "fsdp";
  record.members = {0, 1, 2, 3};
  EXPECT_EQ(describe(record), "all_reduce, sequence 17, group fsdp (ranks 0-3)");
  record.module = "layers.3";
  EXPECT_EQ(describe(record), "all_reduce, sequence 17, group fsdp (ranks 0-3), module layers.3");
  record.op = "recv";
  record.is_p2p = true;
  record.peer = 2;
  EXPECT_EQ(describe(record), "recv from rank 2, sequence 17, group fsdp (ranks 0-3), module layers.3");
  EXPECT_EQ(describe(at::ones({4, 2}, at::kBFloat16)), "bfloat16 [4, 2]");
}

TEST(Signature, HoldsWhatMustBeEqual) {
  WorkRecord record;
  record.op = "barrier";
  EXPECT_EQ(signature(record), "barrier");
  record.op = "alltoall_base";
  record.dtype = at::kFloat;
  record.input_sizes = {4, 2};
  EXPECT_EQ(signature(record), "alltoall_base of float32") << "ranks have different numbers of rows";
  record.op = "all_reduce";
  EXPECT_EQ(signature(record), "all_reduce of float32 [4, 2]");
}

}  // namespace
}  // namespace titan::comm
