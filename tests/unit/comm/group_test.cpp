#include "core/comm/group.hpp"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/comm/communicator.hpp"
#include "tests/support/rank_threads.hpp"

namespace titan::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using titan::testing::run_rank_threads;

/// Calls that are refused on one rank alone, before anything is sent.
class Arguments : public ::testing::Test {
 protected:
  static void expect_refused(const std::function<void(Group&)>& call, const std::string& text) {
    run_rank_threads(2, [&](Communicator& communicator) {
      Group& world = communicator.world();
      try {
        call(world);
        ADD_FAILURE() << "not refused: " << text;
      } catch (const PluginError& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("group world"), HasSubstr(text)));
      }
      // Nothing was started: the ranks are still together.
      world.barrier();
    });
  }
};

TEST_F(Arguments, MustBeContiguous) {
  expect_refused([](Group& group) { group.all_reduce(at::ones({2, 3}).t()); }, "not contiguous: float32 [3, 2]");
}

TEST_F(Arguments, MustBeDefined) {
  expect_refused([](Group& group) { group.all_reduce(at::Tensor()); }, "undefined");
}

TEST_F(Arguments, OfAGatherMustHaveAPartForEachRank) {
  expect_refused(
      [](Group& group) {
        group.all_gather(at::empty({3, 2}), at::ones({2, 2}));
      },
      "a part for each of the 2 ranks: float32 [3, 2] and float32 [2, 2]");
  expect_refused(
      [](Group& group) {
        group.reduce_scatter(at::empty({2, 3}), at::ones({4, 2}));
      },
      "all dims but the first");
  expect_refused([](Group& group) { group.all_gather(at::empty({4}, at::kDouble), at::ones({2})); }, "float64 [4]");
}

TEST_F(Arguments, OfAnAllToAllMustAddUp) {
  expect_refused(
      [](Group& group) {
        group.all_to_all(at::empty({2}), at::ones({2}), {1, 1}, {1, 2});
      },
      "[1, 2] of float32 [2]");
  expect_refused([](Group& group) { group.all_to_all(at::empty({2}), at::ones({2}), {2}, {1, 1}); }, "[2] of float32");
  expect_refused([](Group& group) { group.all_to_all(at::empty({2}), at::ones({2}), {3, -1}, {1, 1}); }, "[3, -1]");
}

TEST_F(Arguments, MustNameRanksOfTheGroup) {
  expect_refused([](Group& group) { group.broadcast(at::ones({2}), 2); }, "no such position: 2");
  expect_refused([](Group& group) { group.send(at::ones({2}), -1, 0); }, "no such position: -1");
  expect_refused([](Group& group) { group.send(at::ones({2}), group.rank(), 0); }, "cannot send to itself");
}

TEST(Calls, LeaveVersionsAndGradientsAlone) {
  run_rank_threads(2, [](Communicator& communicator) {
    const at::Tensor tensor = at::ones({2}).requires_grad_(true);
    const std::int64_t version = tensor._version();
    communicator.world().all_reduce(tensor)->wait();
    EXPECT_EQ(tensor._version(), version);
    EXPECT_TRUE(tensor.is_leaf());
    EXPECT_EQ(tensor.sum().item<float>(), 4.0F);
  });
}

TEST(Calls, MayHaveNoElements) {
  run_rank_threads(2, [](Communicator& communicator) {
    Group& world = communicator.world();
    world.all_reduce(at::empty({0}))->wait();
    world.all_gather(at::empty({0, 3}), at::empty({0, 3}))->wait();
    world.reduce_scatter(at::empty({0, 3}), at::empty({0, 3}))->wait();
    world.all_to_all(at::empty({0, 3}), at::empty({0, 3}), {0, 0}, {0, 0})->wait();
    world.barrier();
    EXPECT_EQ(communicator.records().count(), 5u);
  });
}

TEST(Calls, MayShareMemoryBetweenInputAndOutput) {
  run_rank_threads(3, [](Communicator& communicator) {
    Group& world = communicator.world();
    const at::Tensor whole = at::ones({6}).mul(static_cast<double>(world.rank() + 1)).contiguous();
    world.all_gather(whole, whole.narrow(0, world.rank() * 2, 2))->wait();
    for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(whole[i].item<float>(), static_cast<float>(i / 2 + 1));
    world.reduce_scatter(whole.narrow(0, world.rank() * 2, 2), whole)->wait();
    EXPECT_EQ(whole[world.rank() * 2].item<float>(), static_cast<float>(3 * (world.rank() + 1)));
  });
}

TEST(Agreements, GatherTextsOfAllLengths) {
  run_rank_threads(3, [](Communicator& communicator) {
    const std::string mine(static_cast<std::size_t>(communicator.rank()) * 3,
                           static_cast<char>('a' + communicator.rank()));
    EXPECT_EQ(gather_texts(communicator.world(), mine), (std::vector<std::string>{"", "bbb", "cccccc"}));
    EXPECT_EQ(gather_texts(communicator.world(), ""), (std::vector<std::string>{"", "", ""}));
  });
}

TEST(Agreements, SumOverRanks) {
  run_rank_threads(3, [](Communicator& communicator) {
    std::vector<double> values{1, static_cast<double>(communicator.rank())};
    sum_over(communicator.world(), values);
    EXPECT_EQ(values, (std::vector<double>{3, 3}));
  });
}

}  // namespace
}  // namespace titan::comm
