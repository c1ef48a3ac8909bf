#include "core/comm/fake/fake_world.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <vector>

#include "core/base/text.hpp"

namespace titan::comm {
namespace {

using ::testing::ElementsAre;

/// Two pipeline stages of three ranks each, of which few run.
config::Mesh mesh() { return config::Mesh({2, 1, 3, 1, 1}, 6); }

class FakeWorldTest : public ::testing::Test {
 protected:
  std::unique_ptr<Communicator> join(std::int64_t rank) {
    return world_.join(rank, {[this](const WorkRecord& record) { log_.push_back(concat("start ", record.op)); },
                              [this](const WorkRecord& record) { log_.push_back(concat("wait ", record.op)); }});
  }

  FakeWorld world_{mesh()};
  std::vector<std::string> log_;
};

TEST_F(FakeWorldTest, OthersSayWhatThisRankSays) {
  const auto ranks = join(1);
  Group& group = ranks->group("dp_shard");
  EXPECT_FALSE(ranks->moves_data());
  const at::Tensor sum = at::tensor({1.0, 2.0}), largest = sum.clone();
  group.all_reduce(sum)->wait();
  group.all_reduce(largest, Reduce::max)->wait();
  EXPECT_TRUE(sum.equal(at::tensor({3.0, 6.0})));
  EXPECT_TRUE(largest.equal(at::tensor({1.0, 2.0})));
  const at::Tensor all = at::zeros({6}, at::kLong);
  group.all_gather(all, at::tensor({4, 5}, at::kLong))->wait();
  EXPECT_TRUE(all.equal(at::tensor({4, 5, 4, 5, 4, 5}, at::kLong)));
  const at::Tensor part = at::zeros({1}, at::kFloat);
  group.reduce_scatter(part, at::tensor({1.0F, 2.0F, 3.0F}))->wait();
  EXPECT_EQ(part.item<float>(), 6) << "its own part, three times";
  EXPECT_THAT(gather_texts(group, "word"), ElementsAre("word", "word", "word"));
  const at::Tensor received = at::ones({4}, at::kLong);
  group.all_to_all(received, at::tensor({7, 8, 9}, at::kLong), {1, 2, 1}, {1, 1, 1})->wait();
  EXPECT_TRUE(received.equal(at::tensor({8, 8, 0, 8}, at::kLong)));
}

TEST_F(FakeWorldTest, ShapesPassThroughEveryCall) {
  const auto ranks = join(0);
  Group& group = ranks->group("dp_shard");
  const auto shapes = at::TensorOptions(at::kMeta);
  const at::Tensor whole = at::empty({6}, shapes), part = at::empty({2}, shapes);
  group.all_reduce(whole)->wait();
  group.all_gather(whole, part)->wait();
  group.reduce_scatter(part, whole)->wait();
  group.broadcast(part, 1)->wait();
  group.all_to_all(whole, whole, {2, 2, 2}, {2, 2, 2})->wait();
  group.send(part, 1, 0)->wait();
  group.receive(part, 2, 0)->wait();
  group.barrier();
  const at::Tensor gathered = group.differentiable_all_gather(part, 0);
  EXPECT_EQ(gathered.sizes(), whole.sizes());
  EXPECT_EQ(log_.size(), 18U);
}

TEST_F(FakeWorldTest, TellsStartsAndWaitsInTheirOrder) {
  const auto ranks = join(0);
  Group& group = ranks->group("dp_shard");
  const at::Tensor tensor = at::empty({2}, at::kMeta);
  const WorkPtr reduction = group.all_reduce(tensor), broadcast = group.broadcast(tensor, 0);
  broadcast->wait();
  reduction->wait();
  ranks->group("tp").all_reduce(tensor)->wait();  // of one rank: nobody to talk to
  EXPECT_THAT(
      log_, ElementsAre("start all_reduce", "start broadcast", "wait broadcast", "wait all_reduce", "wait all_reduce"));
}

TEST_F(FakeWorldTest, NeighboursTellEachOtherValues) {
  const auto first = join(2), second = world_.join(5, {[](const WorkRecord&) {}, [](const WorkRecord&) {}});
  const at::Tensor sent = at::tensor({3, 1, 4}, at::kLong), received = at::zeros({3}, at::kLong);
  std::thread neighbour([&] { second->group("pp").receive(received, 0, 9)->wait(); });
  first->group("pp").send(sent, 1, 9)->wait();
  neighbour.join();
  EXPECT_TRUE(received.equal(sent));
}

TEST_F(FakeWorldTest, AFailureEndsTheWaitsOfNeighbours) {
  const auto first = join(0), second = world_.join(3, {[](const WorkRecord&) {}, [](const WorkRecord&) {}});
  const WorkPtr work = first->group("pp").receive(at::zeros({3}, at::kLong), 1, 0);
  second->abort("broken");
  EXPECT_THROW(work->wait(), std::exception);
}

}  // namespace
}  // namespace titan::comm
