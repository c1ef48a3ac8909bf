#include "core/rehearsal/match.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/unit/rehearsal/programs.hpp"

namespace titan::rehearsal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using What = Mismatch::What;

CallForm of_layer(int layer) { return {{8, 16}, "BFloat16", "layers." + std::to_string(layer)}; }

/// A forward of a model that is sharded over all ranks, but for the layers that a rank skips.
RehearsedRank gathers(const config::Mesh& mesh, std::int64_t rank, int skipped = -1) {
  Program program(mesh, rank);
  for (int layer = 0; layer < 4; ++layer) {
    if (layer != skipped) program.call("_allgather_base", "fsdp", of_layer(layer));
  }
  program.call("all_reduce", "world", {{1}, "Float", ""});
  return program.rank();
}

TEST(Match, FindsNothingWhereAllDoTheSame) {
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 1});
  const Matching found = match({"", {gathers(mesh, 0), gathers(mesh, 1)}, 0}, mesh);
  EXPECT_TRUE(found.agrees());
  EXPECT_EQ(found.num_calls, 10U);
  EXPECT_THAT(found.not_compared, IsEmpty());
}

TEST(Match, NamesARankThatSkipsAGather) {
  const config::Mesh mesh = mesh_of({1, 1, 3, 1, 1});
  const Matching found = match({"", {gathers(mesh, 0), gathers(mesh, 1, 2), gathers(mesh, 2)}, 0}, mesh);
  ASSERT_THAT(found.mismatches, SizeIs(1));
  const Mismatch& only = found.mismatches.front();
  EXPECT_EQ(only.what, What::op);
  EXPECT_EQ(only.number, 4U);
  EXPECT_EQ(only.first.rank, 0);
  EXPECT_EQ(only.second.rank, 1);
  EXPECT_EQ(only.text,
            "number 4 of fsdp (ranks 0-2): rank 0 calls _allgather_base of BFloat16 [8, 16], for layers.3; rank 1 "
            "calls all_reduce of Float [1]; the modules differ from number 3 on: layers.2 and layers.3");
}

TEST(Match, NamesTheOneThatDiffersFromMost) {
  const config::Mesh mesh = mesh_of({1, 1, 3, 1, 1});
  const Matching found = match({"", {gathers(mesh, 0, 1), gathers(mesh, 1), gathers(mesh, 2)}, 0}, mesh);
  ASSERT_THAT(found.mismatches, SizeIs(1));
  EXPECT_EQ(found.mismatches.front().first.rank, 1);
  EXPECT_EQ(found.mismatches.front().second.rank, 0);
}

RehearsedRank one_call(const config::Mesh& mesh, std::int64_t rank, std::string_view op, const CallForm& form) {
  Program program(mesh, rank);
  program.call(op, "world", form);
  return program.rank();
}

TEST(Match, TellsDtypeSizesAndOperationApart) {
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 1});
  const auto what = [&](std::string_view op, const CallForm& form) {
    const Matching found =
        match({"", {one_call(mesh, 0, "all_reduce", {{4}, "Float", ""}), one_call(mesh, 1, op, form)}, 0}, mesh);
    return found.mismatches.at(0).what;
  };
  EXPECT_EQ(what("all_reduce", {{4}, "BFloat16", ""}), What::dtype);
  EXPECT_EQ(what("all_reduce", {{5}, "Float", ""}), What::sizes);
  EXPECT_EQ(what("broadcast", {{4}, "Float", ""}), What::op);
}

TEST(Match, FindsAnotherOrder) {
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 1});
  Program first(mesh, 0), second(mesh, 1);
  first.call("all_reduce", "world", {{1}, "Float", "a"});
  first.call("all_reduce", "world", {{2}, "Float", "b"});
  second.call("all_reduce", "world", {{2}, "Float", "b"});
  second.call("all_reduce", "world", {{1}, "Float", "a"});
  const Matching found = match({"", {first.rank(), second.rank()}, 0}, mesh);
  ASSERT_THAT(found.mismatches, SizeIs(1));
  EXPECT_EQ(found.mismatches.front().text,
            "number 1 of world (ranks 0, 1): rank 0 calls all_reduce of Float [1], for a; rank 1 calls all_reduce of "
            "Float [2], for b");
}

TEST(Match, SaysWhoMakesFewerCalls) {
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 1});
  Program first(mesh, 0), second(mesh, 1);
  first.call("barrier", "world");
  first.call("barrier", "world");
  second.call("barrier", "world");
  const Matching found = match({"", {first.rank(), second.rank()}, 0}, mesh);
  ASSERT_THAT(found.mismatches, SizeIs(1));
  EXPECT_EQ(found.mismatches.front().what, What::missing);
  EXPECT_EQ(found.mismatches.front().text,
            "number 2 of world (ranks 0, 1): rank 0 calls barrier; rank 1 makes only 1 call there");
}

TEST(Match, LetsRowsOfAnAllToAllDiffer) {
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 1});
  const auto rows = [&](std::int64_t rank, std::int64_t count, std::int64_t width) {
    return one_call(mesh, rank, "alltoall_base", {{count, width}, "Float", ""});
  };
  EXPECT_TRUE(match({"", {rows(0, 3, 8), rows(1, 5, 8)}, 0}, mesh).agrees());
  EXPECT_FALSE(match({"", {rows(0, 3, 8), rows(1, 5, 9)}, 0}, mesh).agrees());
}

/// The first and last of two pipeline stages that both stand for all ranks of theirs.
RehearsedRank stage(const config::Mesh& mesh, std::int64_t index, int num_sent, const CallForm& form = {}) {
  const std::int64_t ranks = mesh.world_size() / 2, rank = index * ranks;
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < ranks; ++i) all.push_back(rank + i);
  Program program(mesh, rank, all);
  for (int i = 0; i < num_sent; ++i) {
    program.wait(index == 0 ? program.send(ranks, form) : program.receive(0, form));
    program.call("all_reduce", "tp");
  }
  return program.rank();
}

TEST(Match, TranslatesPeersOfRepresentedRanks) {
  const config::Mesh mesh = mesh_of({2, 1, 2, 1, 2});
  const Matching found = match({"", {stage(mesh, 0, 3), stage(mesh, 1, 3)}, 0}, mesh);
  EXPECT_TRUE(found.agrees());
  EXPECT_EQ(found.num_calls, 8U * 6U);
}

TEST(Match, NamesASendWithoutReceive) {
  const config::Mesh mesh = mesh_of({2, 1, 1, 1, 1});
  const CallForm form{{4}, "Float", "layers.2"};
  const Matching found = match({"", {stage(mesh, 0, 3, form), stage(mesh, 1, 2, form)}, 0}, mesh);
  ASSERT_THAT(found.mismatches, SizeIs(1));
  EXPECT_EQ(found.mismatches.front().what, What::missing);
  EXPECT_EQ(found.mismatches.front().text,
            "number 3 of pp from rank 0 to rank 1: rank 0 calls send of Float [4], for layers.2; rank 1 does not "
            "receive it");
}

TEST(Match, NamesAReceiveWithoutSend) {
  const config::Mesh mesh = mesh_of({2, 1, 1, 1, 1});
  const Matching found = match({"", {stage(mesh, 0, 0), stage(mesh, 1, 1)}, 0}, mesh);
  ASSERT_THAT(found.mismatches, SizeIs(1));
  EXPECT_THAT(found.mismatches.front().text, HasSubstr("rank 0 does not send it"));
}

TEST(Match, HoldsSendsAgainstReceives) {
  const config::Mesh mesh = mesh_of({2, 1, 1, 1, 1});
  const Matching found =
      match({"", {stage(mesh, 0, 1, {{4}, "Float", ""}), stage(mesh, 1, 1, {{4}, "BFloat16", ""})}, 0}, mesh);
  ASSERT_THAT(found.mismatches, SizeIs(1));
  EXPECT_EQ(found.mismatches.front().what, What::dtype);
}

TEST(Match, ComparesRanksThatOthersStandFor) {
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 2});
  Program even(mesh, 0, {0, 3}), odd(mesh, 1, {1, 2});
  even.call("all_reduce", "tp", {{4}, "Float", ""});
  odd.call("all_reduce", "tp", {{5}, "Float", ""});
  EXPECT_THAT(match({"", {even.rank(), odd.rank()}, 0}, mesh).mismatches, SizeIs(1));
  // Those that meet along dp_shard are of different kinds, too.
  even.call("all_reduce", "dp_shard", {{4}, "Float", ""});
  EXPECT_THAT(match({"", {even.rank(), odd.rank()}, 0}, mesh).mismatches, SizeIs(2));
}

TEST(Match, SaysWhatIsNotCompared) {
  const config::Mesh mesh = mesh_of({1, 1, 4, 1, 2});
  Program program(mesh, 2, {2});
  program.call("all_reduce", "tp");
  program.call("all_reduce", "fsdp");
  const Matching found = match({"", {program.rank()}, 0}, mesh);
  EXPECT_TRUE(found.agrees());
  EXPECT_EQ(found.num_calls, 0U);
  EXPECT_THAT(found.not_compared,
              ElementsAre("ranks 0, 1, 3-7 were not rehearsed: calls along dp_shard, tp are not held against theirs"));
}

TEST(Match, RefusesReportsThatContradictThemselves) {
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 1});
  RehearsedRank rank = gathers(mesh, 0);
  EXPECT_THROW(match({"", {rank, rank}, 0}, mesh), InternalError);
  rank.channels.begin()->second.pop_back();
  EXPECT_THROW(match({"", {rank}, 0}, mesh), InternalError);
  rank = gathers(mesh, 0);
  rank.events.front().call = 100;
  EXPECT_THROW(match({"", {rank}, 0}, mesh), InternalError);
}

}  // namespace
}  // namespace titan::rehearsal
