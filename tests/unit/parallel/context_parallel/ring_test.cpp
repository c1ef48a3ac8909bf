#include "plugins/parallel/context_parallel/ring.hpp"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "tests/unit/parallel/context_parallel/rank_mesh.hpp"

namespace titan::parallel {
namespace {

at::Tensor numbered(std::int64_t number) { return at::full({3}, number, at::kLong); }

TEST(Ring, BringsEachRankWhatThePreviousOneHeld) {
  for (const std::int64_t ranks : {2, 3, 4}) {
    run_context_ranks(ranks, [&](const strategy::Mesh& mesh) {
      const strategy::Group group = mesh.group("cp");
      Ring ring(group, 0);
      at::Tensor held = numbered(group.rank());
      for (std::int64_t hop = 1; hop <= ranks; ++hop) {
        ring.start(held);
        held = ring.finish();
        EXPECT_TRUE(held.equal(numbered((group.rank() - hop + ranks) % ranks)));
      }
    });
  }
}

TEST(Ring, KeepsMessagesOfSeveralRingsApart) {
  run_context_ranks(3, [](const strategy::Mesh& mesh) {
    const strategy::Group group = mesh.group("cp");
    const std::int64_t previous = (group.rank() + 2) % 3;
    Ring one(group, 0), other(group, 1);
    one.start(numbered(group.rank()));
    other.start(numbered(10 + group.rank()));
    EXPECT_TRUE(other.finish().equal(numbered(10 + previous)));
    EXPECT_TRUE(one.finish().equal(numbered(previous)));
  });
}

}  // namespace
}  // namespace titan::parallel
