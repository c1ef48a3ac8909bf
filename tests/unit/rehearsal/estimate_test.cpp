#include "core/rehearsal/estimate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/rehearsal/programs.hpp"

namespace titan::rehearsal {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

/// A FLOP takes half a second, four bytes one, a step of a ring nothing.
Hardware hardware() {
  Hardware made;
  made.name = "test";
  made.peak_flops = 4;
  made.compute_efficiency = 0.5;
  made.nvlink_bandwidth = made.network_bandwidth = 8;
  made.bandwidth_efficiency = 0.5;
  made.gpus_per_node = 8;
  return made;
}

/// The parts of each rank's time make up the step.
void expect_whole(const Estimate& found) {
  for (const RankTime& rank : found.ranks) {
    EXPECT_NEAR(rank.compute + rank.exposed + rank.idle, found.step_seconds, 1e-9 * found.step_seconds);
  }
}

TEST(Estimate, OverlapsWhatIsStartedEarly) {
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 1});
  Program program(mesh, 0, {0, 1});
  program.compute(1000);
  program.call("broadcast", "world", {{1000}, "Float", ""});
  program.begin_step();
  const std::int32_t first = program.start("_allgather_base", "fsdp", {{8}, "Float", ""});    // sends 32 bytes: 8 s
  const std::int32_t second = program.start("_allgather_base", "fsdp", {{20}, "Float", ""});  // 20 s, after the first
  program.compute(20);                                                                        // 10 s
  program.wait(first);
  program.compute(6);
  program.wait(second);
  const auto found = estimate({"", {program.rank()}, 0}, mesh, hardware(), {});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->step_seconds, 28);
  EXPECT_DOUBLE_EQ(found->ranks[0].compute, 13);
  EXPECT_DOUBLE_EQ(found->ranks[0].exposed, 15);
  EXPECT_DOUBLE_EQ(found->ranks[0].idle, 0);
  EXPECT_DOUBLE_EQ(found->ranks[0].communicated, 28);
  EXPECT_FALSE(found->is_partial);
  expect_whole(*found);
}

TEST(Estimate, RunsTwoChannelsNextToEachOther) {
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 2});
  Program program(mesh, 0, {0, 1, 2, 3});
  const std::int32_t gather = program.start("_allgather_base", "fsdp", {{8}, "Float", ""});
  program.call("_allgather_base", "tp", {{8}, "Float", ""});
  program.wait(gather);
  const auto found = estimate({"", {program.rank()}, 0}, mesh, hardware(), {});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->step_seconds, 8);
}

TEST(Estimate, TellsWaitsForRanksFromWaitsForTransfers) {
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 1});
  Program slow(mesh, 0), fast(mesh, 1);
  slow.compute(20);
  for (Program* program : {&slow, &fast}) program->call("_allgather_base", "fsdp", {{8}, "Float", ""});
  slow.compute(4);
  const auto found = estimate({"", {slow.rank(), fast.rank()}, 0}, mesh, hardware(), {});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->step_seconds, 20);
  EXPECT_DOUBLE_EQ(found->ranks[1].idle, 10 + 2);
  EXPECT_DOUBLE_EQ(found->ranks[1].exposed, 8);
  EXPECT_DOUBLE_EQ(found->ranks[1].end, 18);
  EXPECT_DOUBLE_EQ(found->mean_exposed_share, 0.4);
  EXPECT_DOUBLE_EQ(found->mean_idle_share, 0.3);
  expect_whole(*found);
}

/// Two stages, two micro-batches, forward only.
RehearsalReport pipeline(const config::Mesh& mesh) {
  Program first(mesh, 0), second(mesh, 1);
  std::vector<std::int32_t> sends;
  for (int i = 0; i < 2; ++i) {
    first.begin_span("forward", i, 0);
    first.compute(20);
    first.end_span();
    sends.push_back(first.send(1, {{1}, "Float", ""}));
    second.begin_span("forward", i, 1);
    second.wait(second.receive(0, {{1}, "Float", ""}));
    second.compute(20);
    second.end_span();
  }
  for (const std::int32_t sent : sends) first.wait(sent);
  return {"", {first.rank(), second.rank()}, 0};
}

TEST(Estimate, PlacesSpansOfAPipeline) {
  const config::Mesh mesh = mesh_of({2, 1, 1, 1, 1});
  const auto found = estimate(pipeline(mesh), mesh, hardware(), {});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->step_seconds, 32);
  const auto& first = found->ranks[0].spans;
  const auto& second = found->ranks[1].spans;
  ASSERT_THAT(second, SizeIs(2));
  EXPECT_DOUBLE_EQ(first[1].begin, 10);
  EXPECT_DOUBLE_EQ(first[1].end, 20);
  EXPECT_DOUBLE_EQ(second[0].begin, 11);
  EXPECT_DOUBLE_EQ(second[0].end, 21);
  EXPECT_DOUBLE_EQ(second[0].idle, 0);
  EXPECT_DOUBLE_EQ(second[1].begin, 21);
  EXPECT_DOUBLE_EQ(second[1].end, 32);
  EXPECT_DOUBLE_EQ(second[1].exposed, 1);
  EXPECT_DOUBLE_EQ(found->ranks[1].idle, 10);
  EXPECT_DOUBLE_EQ(found->ranks[1].exposed, 2);
  expect_whole(*found);
}

TEST(Estimate, LeavesWaitsAtTheEdgesOutOfSpans) {
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 1});
  Program slow(mesh, 0), fast(mesh, 1);
  for (Program* program : {&slow, &fast}) {
    const bool is_slow = program == &slow;
    program->begin_span("forward", 0, 0);
    if (is_slow) program->compute(20);
    program->call("barrier", "world");  // idle until 10
    program->compute(2);
    program->call("_allgather_base", "fsdp", {{8}, "Float", ""});  // from 11 to 19
    program->compute(is_slow ? 8 : 2);
    program->call("barrier", "world");
    program->end_span();
    program->begin_span("optimizer");
    program->call("barrier", "world");
    program->end_span();
  }
  const auto found = estimate({"", {slow.rank(), fast.rank()}, 0}, mesh, hardware(), {});
  ASSERT_TRUE(found);
  const TimedSpan& forward = found->ranks[1].spans[0];
  EXPECT_DOUBLE_EQ(forward.begin, 10);
  EXPECT_DOUBLE_EQ(forward.end, 20);
  EXPECT_DOUBLE_EQ(forward.exposed, 8);
  EXPECT_DOUBLE_EQ(forward.idle, 0);
  EXPECT_DOUBLE_EQ(found->ranks[1].spans[1].begin, 23);
  EXPECT_DOUBLE_EQ(found->ranks[0].spans[0].begin, 0);
  EXPECT_DOUBLE_EQ(found->ranks[0].spans[0].end, 23);
}

TEST(Estimate, CountsTokensAndUtilisation) {
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 1});
  Program program(mesh, 0, {0, 1});
  program.compute(20);
  const auto found = estimate({"", {program.rank()}, 0}, mesh, hardware(), {100, 0.2});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(*found->tokens_per_second, 10);
  EXPECT_DOUBLE_EQ(*found->model_utilisation, 0.25);
  EXPECT_DOUBLE_EQ(found->hardware_utilisation, 0.5);
  EXPECT_FALSE(estimate({"", {program.rank()}, 0}, mesh, hardware(), {})->tokens_per_second);
  EXPECT_FALSE(estimate({"", {program.rank()}, 0}, mesh, hardware(), {100, 0})->model_utilisation);
}

TEST(Estimate, SaysThatItIsOneAndOfWhat) {
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 1});
  Program program(mesh, 0);
  program.call("_allgather_base", "fsdp", {{8}, "Float", ""});
  const auto found = estimate({"", {program.rank()}, 0}, mesh, find_hardware("h100"), {});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->is_partial);
  EXPECT_THAT(found->formulas.front(), HasSubstr("this is an estimate"));
  EXPECT_THAT(found->formulas.at(1), HasSubstr("FLOPs / (989.4 TFLOP/s x 0.6)"));
  EXPECT_THAT(found->formulas, Each(Not(IsEmpty())));
}

TEST(Estimate, IsNothingWhereRanksWaitForEver) {
  const config::Mesh mesh = mesh_of({1, 1, 2, 1, 1});
  Program one(mesh, 0), other(mesh, 1);
  one.call("barrier", "world");
  EXPECT_FALSE(estimate({"", {one.rank(), other.rank()}, 0}, mesh, hardware(), {}));
}

TEST(Estimate, OfANothingIsNothing) {
  const config::Mesh mesh = mesh_of({1, 1, 1, 1, 1});
  const auto found = estimate({"", {Program(mesh, 0).rank()}, 0}, mesh, hardware(), {100, 1});
  ASSERT_TRUE(found);
  EXPECT_DOUBLE_EQ(found->step_seconds, 0);
  EXPECT_FALSE(found->tokens_per_second);
}

}  // namespace
}  // namespace titan::rehearsal
