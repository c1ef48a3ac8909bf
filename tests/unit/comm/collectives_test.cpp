#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "core/comm/communicator.hpp"
#include "tests/support/rank_threads.hpp"

namespace titan::comm {
namespace {

using titan::testing::run_rank_threads;

/// Every number of ranks with every dtype.
class Collectives : public ::testing::TestWithParam<std::tuple<std::int64_t, at::ScalarType>> {
 protected:
  std::int64_t ranks() const { return std::get<0>(GetParam()); }
  at::ScalarType dtype() const { return std::get<1>(GetParam()); }
  void on_ranks(const std::function<void(Communicator&)>& body) const { run_rank_threads(ranks(), body); }

  /// A rank's tensor [rows, 3]: values differ by rank and place, some negative, not all exact in bfloat16.
  at::Tensor input(std::int64_t rank, std::int64_t rows) const {
    const at::Tensor values = at::arange(rows * 3, at::kDouble).mul(1.7).sub(static_cast<double>(rank) * 2.3 + 3);
    return values.reshape({rows, 3}).to(dtype());
  }
  /// The inputs of all ranks, summed in order of rank as the words of the dtype allow.
  at::Tensor sum(std::int64_t rows) const {
    const at::ScalarType wide = dtype() == at::kBFloat16 ? at::kFloat : dtype();
    at::Tensor total = input(0, rows).to(wide).clone();
    for (std::int64_t rank = 1; rank < ranks(); ++rank) total.add_(input(rank, rows).to(wide));
    return total.to(dtype());
  }
};

TEST_P(Collectives, AllReduceSumsInOrderOfRank) {
  on_ranks([&](Communicator& communicator) {
    const at::Tensor tensor = input(communicator.rank(), 4).clone();
    communicator.world().all_reduce(tensor)->wait();
    EXPECT_TRUE(at::equal(tensor, sum(4)));
  });
}

TEST_P(Collectives, AllReduceFindsExtremes) {
  on_ranks([&](Communicator& communicator) {
    const at::Tensor largest = input(communicator.rank(), 4).clone(), smallest = largest.clone();
    communicator.world().all_reduce(largest, Reduce::max)->wait();
    communicator.world().all_reduce(smallest, Reduce::min)->wait();
    EXPECT_TRUE(at::equal(largest, input(0, 4)));
    EXPECT_TRUE(at::equal(smallest, input(ranks() - 1, 4)));
  });
}

TEST_P(Collectives, AllGatherJoinsInOrderOfRank) {
  on_ranks([&](Communicator& communicator) {
    const at::Tensor out = at::empty({ranks() * 2, 3}, dtype());
    communicator.world().all_gather(out, input(communicator.rank(), 2))->wait();
    std::vector<at::Tensor> parts;
    for (std::int64_t rank = 0; rank < ranks(); ++rank) parts.push_back(input(rank, 2));
    EXPECT_TRUE(at::equal(out, at::cat(parts)));
  });
}

TEST_P(Collectives, ReduceScatterKeepsTheRanksPartOfTheSum) {
  on_ranks([&](Communicator& communicator) {
    const at::Tensor out = at::empty({2, 3}, dtype());
    communicator.world().reduce_scatter(out, input(communicator.rank(), ranks() * 2))->wait();
    EXPECT_TRUE(at::equal(out, sum(ranks() * 2).narrow(0, communicator.rank() * 2, 2)));
  });
}

TEST_P(Collectives, AllToAllMovesUnevenRows) {
  // Rank r sends (r + i) % 3 rows to rank i: some of them none.
  const auto rows = [&](std::int64_t from, std::int64_t to) { return (from + to) % 3; };
  on_ranks([&](Communicator& communicator) {
    const std::int64_t rank = communicator.rank();
    std::vector<std::int64_t> in_rows, out_rows;
    std::vector<at::Tensor> sent, expected;
    for (std::int64_t peer = 0; peer < ranks(); ++peer) {
      in_rows.push_back(rows(rank, peer));
      out_rows.push_back(rows(peer, rank));
      sent.push_back(at::full({in_rows.back(), 3}, rank * 10 + peer, dtype()));
      expected.push_back(at::full({out_rows.back(), 3}, peer * 10 + rank, dtype()));
    }
    const at::Tensor wanted = at::cat(expected), out = at::empty_like(wanted);
    communicator.world().all_to_all(out, at::cat(sent), out_rows, in_rows)->wait();
    EXPECT_TRUE(at::equal(out, wanted));
  });
}

TEST_P(Collectives, BroadcastGivesTheRootsTensor) {
  on_ranks([&](Communicator& communicator) {
    const std::int64_t root = ranks() - 1;
    const at::Tensor tensor = input(communicator.rank(), 2).clone();
    communicator.world().broadcast(tensor, root)->wait();
    EXPECT_TRUE(at::equal(tensor, input(root, 2)));
  });
}

TEST_P(Collectives, SendAndReceivePassARing) {
  if (ranks() == 1) return;  // Nobody to send to.
  on_ranks([&](Communicator& communicator) {
    const std::int64_t rank = communicator.rank(), next = (rank + 1) % ranks(), last = (rank + ranks() - 1) % ranks();
    const at::Tensor out = at::empty({2, 3}, dtype());
    const WorkPtr sent = communicator.world().send(input(rank, 2), next, 7);
    communicator.world().receive(out, last, 7)->wait();
    sent->wait();
    EXPECT_TRUE(at::equal(out, input(last, 2)));
  });
}

TEST_P(Collectives, StartsAreAsynchronous) {
  on_ranks([&](Communicator& communicator) {
    Group& world = communicator.world();
    std::vector<at::Tensor> tensors;
    std::vector<WorkPtr> works;
    for (std::int64_t i = 0; i < 5; ++i) {
      tensors.push_back(at::full({2}, i + communicator.rank(), dtype()));
      works.push_back(world.all_reduce(tensors.back()));
    }
    world.barrier();
    for (std::size_t i = works.size(); i-- > 0;) works[i]->wait();
    for (std::int64_t i = 0; i < 5; ++i) {
      const std::int64_t expected = i * ranks() + ranks() * (ranks() - 1) / 2;
      EXPECT_TRUE(at::equal(tensors[static_cast<std::size_t>(i)], at::full({2}, expected, dtype())));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Collectives,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4, 8),
                                            ::testing::Values(at::kDouble, at::kFloat, at::kBFloat16, at::kLong)));

}  // namespace
}  // namespace titan::comm
