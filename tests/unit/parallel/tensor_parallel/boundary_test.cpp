#include "plugins/parallel/tensor_parallel/boundary.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/base/error.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/unit/parallel/tensor_parallel/rank_views.hpp"

namespace titan::parallel {
namespace {

using ::testing::HasSubstr;
using titan::testing::run_rank_threads;

/// Numbers that tell tokens apart: [1, length, 2].
at::Tensor tokens(std::int64_t first, std::int64_t length) {
  return at::arange(2 * first, 2 * (first + length), at::kDouble).view({1, length, 2});
}

/// Calls a leaf that gives its input back, with `body` around it: what goes in is its first output's input.
at::Tensor through(comm::Communicator& communicator, bool splits_sequence, const at::Tensor& x,
                   const std::function<at::Tensor(const Boundary&, const strategy::Frame&, const at::Tensor&)>& body) {
  nn::Tree tree;
  const auto leaf = tree.add_leaf(TITAN_MODULE_ROOT, "here", "titan.swiglu", {});
  const RankViews views(tree, communicator);
  const Boundary boundary(views.mesh(), splits_sequence);
  attach(views.tree(), views.tree().modules().front(),
         [&](strategy::Frame& frame, strategy::Next, strategy::Inputs in) -> strategy::Tensors {
           return {body(boundary, frame, in[0])};
         });
  return tree.call(leaf, {x}).front();
}

config::Mesh two() { return {{1, 1, 1, 1, 2}, 2}; }

TEST(TensorBoundary, EntersWithAllTokensAndSumsTheirGradients) {
  run_rank_threads(two(), [](comm::Communicator& communicator) {
    const auto rank = communicator.rank();
    const at::Tensor x = tokens(3 * rank, 3).requires_grad_(true);
    const at::Tensor whole =
        through(communicator, true, x,
                [](const auto& boundary, const auto& frame, const auto& in) { return boundary.enter(frame, in); });
    EXPECT_TRUE(whole.equal(tokens(0, 6)));
    whole.backward(tokens(10 * rank, 6));
    EXPECT_TRUE(x.grad().equal((tokens(0, 6) + tokens(10, 6)).narrow(1, 3 * rank, 3)));
  });
}

TEST(TensorBoundary, WithAWholeSequenceEntersAsItIsAndSumsGradients) {
  run_rank_threads(two(), [](comm::Communicator& communicator) {
    const at::Tensor x = tokens(0, 3).requires_grad_(true);
    const at::Tensor same =
        through(communicator, false, x,
                [](const auto& boundary, const auto& frame, const auto& in) { return boundary.enter(frame, in); });
    EXPECT_TRUE(same.equal(x));
    EXPECT_EQ(communicator.records().count(), 0U);
    same.backward(tokens(10 * communicator.rank(), 3));
    EXPECT_TRUE(x.grad().equal(tokens(0, 3) + tokens(10, 3)));
  });
}

TEST(TensorBoundary, LeavesWithItsPartOfTheSum) {
  run_rank_threads(two(), [](comm::Communicator& communicator) {
    const auto rank = communicator.rank();
    const at::Tensor summand = tokens(10 * rank, 6).requires_grad_(true);
    const at::Tensor mine =
        through(communicator, true, summand,
                [](const auto& boundary, const auto& frame, const auto& in) { return boundary.leave(frame, in); });
    EXPECT_TRUE(mine.equal((tokens(0, 6) + tokens(10, 6)).narrow(1, 3 * rank, 3)));
    mine.backward(tokens(3 * rank, 3));
    EXPECT_TRUE(summand.grad().equal(tokens(0, 6))) << "every summand has the gradient of the sum";
  });
}

TEST(TensorBoundary, WithAWholeSequenceLeavesWithTheSum) {
  run_rank_threads(two(), [](comm::Communicator& communicator) {
    const at::Tensor summand = tokens(10 * communicator.rank(), 3).requires_grad_(true);
    const at::Tensor sum =
        through(communicator, false, summand,
                [](const auto& boundary, const auto& frame, const auto& in) { return boundary.leave(frame, in); });
    EXPECT_TRUE(sum.equal(tokens(0, 3) + tokens(10, 3)));
    sum.backward(tokens(5, 3));
    EXPECT_TRUE(summand.grad().equal(tokens(5, 3))) << "not summed once more: all ranks have the same";
    EXPECT_EQ(communicator.records().count(), 1U);
  });
}

TEST(TensorBoundary, CutsTheSequence) {
  run_rank_threads(two(), [](comm::Communicator& communicator) {
    const at::Tensor part =
        through(communicator, true, tokens(0, 6),
                [](const auto& boundary, const auto& frame, const auto& in) { return boundary.part(frame, in); });
    EXPECT_TRUE(part.equal(tokens(3 * communicator.rank(), 3)));
  });
}

std::string error_of(const at::Tensor& x, bool enters) {
  std::string text = "(nothing)";
  try {
    run_rank_threads(two(), [&](comm::Communicator& communicator) {
      through(communicator, true, x, [&](const auto& boundary, const auto& frame, const auto& in) {
        return enters ? boundary.enter(frame, in) : boundary.leave(frame, in);
      });
    });
  } catch (const PluginError& error) {
    text = error.what();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::config);
    text = error.what();
  }
  return text;
}

TEST(TensorBoundary, NamesTheModuleWhoseSequenceItCannotFind) {
  EXPECT_THAT(error_of(at::ones({4, 2}), true), HasSubstr("[here] sequence parallelism cuts dim 1"));
  EXPECT_THAT(error_of(at::ones({4, 2}), false), HasSubstr("another number of dims: 2"));
  EXPECT_THAT(error_of(at::ones({1, 5, 2}), false), HasSubstr("[here] sequence parallelism cannot cut the sequence: "
                                                              "length 5, 2 ranks"));
}

}  // namespace
}  // namespace titan::parallel
