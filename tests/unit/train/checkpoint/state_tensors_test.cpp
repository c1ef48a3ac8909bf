#include "core/train/checkpoint/state_tensors.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/train/checkpoint/rank_team.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

using config::Axis;
using ::testing::ElementsAre;

std::vector<std::string> names_of(const std::vector<StateTensor>& tensors) {
  std::vector<std::string> names;
  for (const StateTensor& tensor : tensors) names.push_back(tensor.tensor.name);
  return names;
}

TEST(StateTensors, HaveTorchtitansNames) {
  const auto tree = tiny::tiny_tree();
  const optim::AdamOptimizer optimizer = tiny::tiny_optimizer(*tree);
  EXPECT_THAT(names_of(state_tensors(*tree, nullptr)), ElementsAre("tok_embeddings.weight", "output.weight"));
  EXPECT_THAT(names_of(state_tensors(*tree, &optimizer)),
              ElementsAre("tok_embeddings.weight", "output.weight", "optimizer.state.tok_embeddings.weight.exp_avg",
                          "optimizer.state.tok_embeddings.weight.exp_avg_sq",
                          "optimizer.state.tok_embeddings.weight.step", "optimizer.state.output.weight.exp_avg",
                          "optimizer.state.output.weight.exp_avg_sq", "optimizer.state.output.weight.step"));
}

TEST(StateTensors, AreTheRunsOwnMemory) {
  const auto tree = tiny::tiny_tree();
  std::vector<StateTensor> tensors = state_tensors(*tree, nullptr);
  const checkpoint::WantedPart part = wanted(tensors.front());
  EXPECT_EQ(part.data, tree->find_parameter("tok_embeddings.weight")->storage.data_ptr());
  EXPECT_EQ(part.tensor.dtype, checkpoint::DType::f64);
  EXPECT_EQ(part.box.size, (std::vector<std::int64_t>{tiny::kVocabulary, tiny::kDim}));
  EXPECT_EQ(static_cast<const void*>(held(tensors.front()).data), part.data);
}

TEST(StateTensors, EachRankHasItsGeneratorsState) {
  const auto tree = tiny::tiny_tree();
  const StateTensor random = random_state_tensor(*tree, 12);
  EXPECT_EQ(random.tensor.name, "random_state.rank_00012");
  EXPECT_EQ(random.tensor.dtype, checkpoint::DType::u8);
  EXPECT_TRUE(random.values.equal(tree->random_state()));
}

/// A tree of 2 x 2 ranks: the output is in two parts along dp_shard, each on two ranks, the embedding on all.
void place(nn::Tree& tree, const comm::Communicator& ranks) {
  tiny::add_tiny_model(tree, 10);
  tree.set_mesh(ranks.mesh());
  tree.shard(*tree.find_parameter("output.weight"), {Axis::dp_shard}, 0,
             5 * ranks.mesh().coordinate(ranks.rank(), Axis::dp_shard), 5);
  tree.materialise({at::kFloat, at::kFloat, at::kFloat}, at::kCPU, 1);
}

TEST(WriterPlan, EveryBoxIsWrittenByOneOfItsHolders) {
  std::mutex mutex;
  std::multiset<std::string> written;
  std::map<std::int64_t, std::size_t> elements;
  testing::run_rank_threads(config::Mesh({1, 2, 2, 1, 1}, 4), [&](comm::Communicator& communicator) {
    Ranks ranks(communicator);
    RankTeam team(ranks);
    nn::Tree tree;
    place(tree, communicator);
    const std::vector<StateTensor> tensors = state_tensors(tree, nullptr);
    const WriterPlan plan(team, tensors);
    const std::scoped_lock lock(mutex);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (!plan.writes(i)) continue;
      const Box& box = tensors[i].box;
      written.insert(concat(tensors[i].tensor.name, '@', box.offset.front()));
      elements[team.rank()] += static_cast<std::size_t>(tensors[i].values.numel());
    }
  });
  EXPECT_THAT(written, ElementsAre("output.weight@0", "output.weight@5", "tok_embeddings.weight@0"));
  EXPECT_EQ(elements.size(), 3u) << "nobody writes two things while another writes none";
}

}  // namespace
}  // namespace titan::train
