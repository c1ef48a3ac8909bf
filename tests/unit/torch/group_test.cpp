#include "titan/torch/group.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <gmock/gmock.h>

#include "tests/support/rank_threads.hpp"
#include "tests/unit/torch/strategy_fixture.hpp"

namespace titan::strategy {
namespace {

using ::testing::HasSubstr;

/// Runs `body` for each of two ranks along dp_shard.
void on_two_ranks(const std::function<void(const Mesh&, comm::Communicator&)>& body) {
  testing::run_rank_threads(2, [&](comm::Communicator& ranks) {
    const plugin::HostTable host(plugin::HostServices{nullptr, engine_interface, 0, 1});
    body(Mesh(handle_of(host, ranks)), ranks);
  });
}

at::Tensor mine(const Group& group) { return at::full({2}, static_cast<double>(group.rank() + 1), at::kDouble); }

TEST(GroupView, CollectivesWorkAsTheirTablesSay) {
  on_two_ranks([](const Mesh& mesh, comm::Communicator& ranks) {
    const Group group = mesh.group("fsdp");
    EXPECT_EQ(group.size(), 2);
    EXPECT_EQ(group.rank(), ranks.rank());
    EXPECT_EQ(group.name(), "fsdp");
    const at::Tensor sum = mine(group), largest = mine(group), all = at::empty({4}, at::kDouble);
    Work first = group.all_reduce(sum), second = group.all_reduce(largest, Reduce::max);
    EXPECT_TRUE(first);
    first.wait();
    EXPECT_FALSE(first);
    second.wait();
    EXPECT_TRUE(sum.equal(at::full({2}, 3.0, at::kDouble)));
    EXPECT_TRUE(largest.equal(at::full({2}, 2.0, at::kDouble)));
    group.all_gather(all, mine(group)).wait();
    EXPECT_EQ(all[0].item<double>(), 1);
    EXPECT_EQ(all[3].item<double>(), 2);
    const at::Tensor part = at::empty({2}, at::kDouble);
    group.reduce_scatter(part, all).wait();
    EXPECT_TRUE(part.equal(mine(group) * 2));
    group.broadcast(part, 1).wait();
    EXPECT_EQ(part[0].item<double>(), 4);
    group.barrier();
  });
}

TEST(GroupView, GathersInPlace) {
  on_two_ranks([](const Mesh& mesh, comm::Communicator&) {
    const Group group = mesh.group("fsdp");
    const at::Tensor all = at::full({4}, -1.0, at::kDouble), place = all.narrow(0, group.rank() * 2, 2);
    place.copy_(mine(group));
    group.all_gather(all, place).wait();
    EXPECT_TRUE(all.equal(at::cat({at::full({2}, 1.0, at::kDouble), at::full({2}, 2.0, at::kDouble)})));
  });
}

TEST(GroupView, DifferentiableFormsHaveGradients) {
  on_two_ranks([](const Mesh& mesh, comm::Communicator&) {
    const Group group = mesh.group("fsdp");
    const at::Tensor x = mine(group).requires_grad_(true);
    group.differentiable_all_gather(x, 0).sum().backward();
    EXPECT_TRUE(x.grad().equal(at::full({2}, 2.0, at::kDouble)));
    EXPECT_EQ(group.differentiable_all_reduce(x)[0].item<double>(), 3);
  });
}

TEST(GroupView, RecordsNameTheModuleOfAScope) {
  on_two_ranks([](const Mesh& mesh, comm::Communicator& ranks) {
    const Group group = mesh.group("fsdp");
    {
      const auto scope = mesh.in_module("layers.3");
      group.all_reduce(mine(group)).wait();
    }
    group.all_reduce(mine(group)).wait();
    const auto records = ranks.records().snapshot();
    EXPECT_EQ(records[0].module, "layers.3");
    EXPECT_EQ(records[1].module, "");
  });
}

TEST(GroupView, ADroppedWorkIsWaitedFor) {
  on_two_ranks([](const Mesh& mesh, comm::Communicator& ranks) {
    const Group group = mesh.group("fsdp");
    const at::Tensor sum = mine(group);
    { const Work dropped = group.all_reduce(sum); }
    EXPECT_EQ(sum[0].item<double>(), 3);
    EXPECT_TRUE(ranks.records().snapshot()[0].retired);
  });
}

TEST(GroupView, AnUnknownAxisIsAnError) {
  on_two_ranks([](const Mesh& mesh, comm::Communicator&) {
    try {
      mesh.group("dp_shrad");
      FAIL();
    } catch (const sdk::HostError& error) {
      EXPECT_THAT(error.what(), HasSubstr("dp_shrad"));
    }
  });
}

}  // namespace
}  // namespace titan::strategy
