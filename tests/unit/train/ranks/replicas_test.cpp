#include "core/train/ranks/replicas.hpp"

#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

using config::Axis;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// A tree of 2 x 2 ranks whose output weight is sharded over dp_shard.
void place(nn::Tree& tree, const comm::Communicator& ranks) {
  tiny::add_tiny_model(tree, 10);
  tree.set_mesh(ranks.mesh());
  nn::Parameter& output = *tree.find_parameter("output.weight");
  tree.shard(output, {Axis::dp_shard}, 0, 5 * ranks.mesh().coordinate(ranks.rank(), Axis::dp_shard), 5);
  tree.materialise({at::kFloat, at::kFloat, at::kFloat}, at::kCPU, 1);
}

const config::Mesh kMesh({1, 2, 2, 1, 1}, 4);

template <class Failure, class Body>
std::string failure(const Body& body) {
  try {
    body();
  } catch (const Failure& error) {
    return error.what();
  }
  return "no failure of that kind";
}

TEST(Replicas, EqualOnesAreFine) {
  testing::run_rank_threads(kMesh, [](comm::Communicator& communicator) {
    Ranks ranks(communicator);
    nn::Tree tree;
    place(tree, communicator);
    EXPECT_NO_THROW(compare_weights(tree, ranks));
  });
}

TEST(Replicas, OneFlippedBitIsNamedWithTheRanksThatShareThePart) {
  testing::run_rank_threads(kMesh, [](comm::Communicator& communicator) {
    Ranks ranks(communicator);
    nn::Tree tree;
    place(tree, communicator);
    if (ranks.rank() == 3) {
      const at::Tensor weight = tree.find_parameter("output.weight")->storage.detach();
      static_cast<std::int32_t*>(weight.data_ptr())[7] ^= 1;
    }
    // Rank 3 shares its half with rank 1 alone.
    EXPECT_THAT(failure<InternalError>([&] { compare_weights(tree, ranks); }),
                AllOf(HasSubstr("output.weight"), HasSubstr("rank 1"), HasSubstr("rank 3"), Not(HasSubstr("rank 0"))));
  });
}

TEST(Replicas, GradientsAreComparedToo) {
  testing::run_rank_threads(kMesh, [](comm::Communicator& communicator) {
    Ranks ranks(communicator);
    nn::Tree tree;
    place(tree, communicator);
    for (const auto& parameter : tree.parameters()) parameter->gradient = at::full(parameter->part.size, 2.0);
    EXPECT_NO_THROW(audit_gradients(tree, ranks, 5));
    if (ranks.rank() == 2) tree.find_parameter("tok_embeddings.weight")->gradient.mul_(1 + 1e-6);
    EXPECT_THAT(failure<PluginError>([&] { audit_gradients(tree, ranks, 5); }),
                AllOf(HasSubstr("step 5"), HasSubstr("tok_embeddings.weight"), HasSubstr("ranks 0, 1, 3"),
                      HasSubstr("rank 2")));
  });
}

TEST(Replicas, AreNotInEveryLayout) {
  for (const auto& [mesh, is_replicated] :
       {std::pair{config::Mesh({1, 2, 1, 1, 1}, 2), true}, std::pair{config::Mesh({2, 1, 1, 1, 1}, 2), false}}) {
    testing::run_rank_threads(mesh, [is_replicated = is_replicated](comm::Communicator& communicator) {
      const Ranks ranks(communicator);
      nn::Tree tree;
      tiny::add_tiny_model(tree);
      tree.validate();
      tree.set_mesh(communicator.mesh());
      EXPECT_EQ(has_replicas(tree, ranks), is_replicated);
    });
  }
}

TEST(Replicas, WeightsThatDriftApartAreNamedWithTheirStep) {
  testing::run_rank_threads(kMesh, [](comm::Communicator& communicator) {
    Ranks ranks(communicator);
    nn::Tree tree;
    place(tree, communicator);
    EXPECT_NO_THROW(check_drift(tree, ranks, 20));
    if (ranks.rank() == 1) {
      for (const auto& parameter : tree.parameters()) parameter->storage.detach().mul_(1 + 1e-6);
    }
    EXPECT_THAT(failure<InternalError>([&] { check_drift(tree, ranks, 20); }),
                AllOf(HasSubstr("step 20"), HasSubstr("tok_embeddings.weight and 1 more"), HasSubstr("rank 1"),
                      HasSubstr("found after the step's update")));
  });
}

}  // namespace
}  // namespace titan::train
