#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/base/error.hpp"
#include "core/comm/communicator.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/rank_threads.hpp"

namespace titan::comm {
namespace {

using ::testing::HasSubstr;
using titan::testing::run_rank_threads;

/// Each rank's input, in fp64, and the weights of its loss: loss = sum over ranks of sum(weight_r * out_r^2).
at::Tensor values(std::int64_t seed, at::IntArrayRef sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return at::arange(count, at::kDouble).add(static_cast<double>(seed) * 0.37).sin().reshape(sizes);
}

using Forward = std::function<at::Tensor(Group&, const at::Tensor&)>;
/// What a collective means: all ranks' outputs from all ranks' inputs, in one process.
using Meaning = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

at::Tensor loss_of(const at::Tensor& out, std::int64_t rank) {
  return out.mul(out).mul(values(100 + rank, out.sizes())).sum();
}

/// Compares outputs and gradients of a collective over rank threads with one process's autograd of what it means.
void expect_meaning(std::int64_t ranks, const std::function<std::vector<std::int64_t>(std::int64_t)>& sizes,
                    const Forward& forward, const Meaning& meaning) {
  std::vector<at::Tensor> inputs;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    inputs.push_back(values(rank, sizes(rank)).detach().requires_grad_(true));
  }
  const std::vector<at::Tensor> outputs = meaning(inputs);
  at::Tensor loss = loss_of(outputs[0], 0);
  for (std::int64_t rank = 1; rank < ranks; ++rank) {
    loss = loss.add(loss_of(outputs[static_cast<std::size_t>(rank)], rank));
  }
  torch::autograd::backward({loss}, {});
  run_rank_threads(ranks, [&](Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    const at::Tensor in = values(communicator.rank(), sizes(communicator.rank())).requires_grad_(true);
    const at::Tensor out = forward(communicator.world(), in);
    ASSERT_EQ(out.sizes(), outputs[rank].sizes());
    EXPECT_LT(out.sub(outputs[rank]).abs().max().item<double>(), 1e-14);
    torch::autograd::backward({loss_of(out, communicator.rank())}, {});
    EXPECT_LT(in.grad().sub(inputs[rank].grad()).abs().max().item<double>(), 1e-13);
  });
}

class Differentiable : public ::testing::TestWithParam<std::int64_t> {
 protected:
  std::int64_t ranks() const { return GetParam(); }
};

TEST_P(Differentiable, AllReduceSumsTheGradientsToo) {
  expect_meaning(
      ranks(),
      [](std::int64_t) {
        return std::vector<std::int64_t>{2, 3};
      },
      [](Group& group, const at::Tensor& in) { return group.differentiable_all_reduce(in); },
      [](const std::vector<at::Tensor>& inputs) {
        return std::vector<at::Tensor>(inputs.size(), at::stack(inputs).sum(0));
      });
}

TEST_P(Differentiable, AllGatherWorksAlongEveryDim) {
  for (const std::int64_t dim : {0, 1, 2, -1, -2, -3}) {
    expect_meaning(
        ranks(),
        [](std::int64_t) {
          return std::vector<std::int64_t>{2, 3, 4};
        },
        [&](Group& group, const at::Tensor& in) { return group.differentiable_all_gather(in, dim); },
        [&](const std::vector<at::Tensor>& inputs) {
          return std::vector<at::Tensor>(inputs.size(), at::cat(inputs, dim));
        });
  }
}

TEST_P(Differentiable, ReduceScatterWorksAlongEveryDim) {
  for (const std::int64_t dim : {0, 1, -1, -2}) {
    expect_meaning(
        ranks(),
        [&](std::int64_t) {
          return std::vector<std::int64_t>{2 * ranks(), 3 * ranks()};
        },
        [&](Group& group, const at::Tensor& in) { return group.differentiable_reduce_scatter(in, dim); },
        [&](const std::vector<at::Tensor>& inputs) { return at::stack(inputs).sum(0).chunk(ranks(), dim); });
  }
}

TEST_P(Differentiable, AllToAllMovesUnevenRows) {
  // Some of them none, but no rank without any: an empty tensor has no largest element.
  const auto rows = [&](std::int64_t from, std::int64_t to) { return from == to ? 2 : (from + 2 * to) % 3; };
  const auto sent = [&](std::int64_t rank) {
    std::vector<std::int64_t> counts;
    for (std::int64_t peer = 0; peer < ranks(); ++peer) counts.push_back(rows(rank, peer));
    return counts;
  };
  const auto received = [&](std::int64_t rank) {
    std::vector<std::int64_t> counts;
    for (std::int64_t peer = 0; peer < ranks(); ++peer) counts.push_back(rows(peer, rank));
    return counts;
  };
  expect_meaning(
      ranks(),
      [&](std::int64_t rank) {
        std::int64_t count = 0;
        for (const std::int64_t part : sent(rank)) count += part;
        return std::vector<std::int64_t>{count, 2};
      },
      [&](Group& group, const at::Tensor& in) {
        return group.differentiable_all_to_all(in, received(group.rank()), sent(group.rank()));
      },
      [&](const std::vector<at::Tensor>& inputs) {
        std::vector<std::vector<at::Tensor>> parts;
        for (std::int64_t rank = 0; rank < ranks(); ++rank) {
          parts.push_back(inputs[static_cast<std::size_t>(rank)].split_with_sizes(sent(rank), 0));
        }
        std::vector<at::Tensor> outputs;
        for (std::size_t to = 0; to < inputs.size(); ++to) {
          std::vector<at::Tensor> arriving;
          for (const auto& from : parts) arriving.push_back(from[to]);
          outputs.push_back(at::cat(arriving));
        }
        return outputs;
      });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Differentiable, ::testing::Values(1, 2, 3, 4));

TEST(DifferentiableRecords, BackwardIsRecordedForTheModuleOfForward) {
  run_rank_threads(2, [](Communicator& communicator) {
    const at::Tensor in = values(0, {2, 2}).requires_grad_(true);
    communicator.set_module("layers.3");
    const at::Tensor out = communicator.world().differentiable_all_gather(in, 0);
    communicator.set_module("layers.4");
    torch::autograd::backward({out.sum()}, {});
    const std::vector<WorkRecord> records = communicator.records().snapshot();
    ASSERT_EQ(records.size(), 2u);
    EXPECT_EQ(records[0].op, "_allgather_base");
    EXPECT_EQ(records[1].op, "_reduce_scatter_base");
    EXPECT_EQ(records[1].module, "layers.3");
    communicator.world().barrier();
    EXPECT_EQ(communicator.records().snapshot().back().module, "layers.4");
  });
}

TEST(DifferentiableArguments, AreRefusedByName) {
  run_rank_threads(2, [](Communicator& communicator) {
    Group& world = communicator.world();
    const at::Tensor in = values(0, {3, 2});
    const auto error = [](const std::function<void()>& call) {
      try {
        call();
      } catch (const PluginError& caught) {
        return std::string(caught.what());
      }
      return std::string("no error");
    };
    EXPECT_THAT(error([&] { world.differentiable_all_gather(in, 2); }), HasSubstr("no such dim: 2 of float64 [3, 2]"));
    EXPECT_THAT(error([&] { world.differentiable_reduce_scatter(in, 0); }),
                HasSubstr("must divide the dim: dim 0 of float64 [3, 2], 2 ranks"));
    EXPECT_THAT(error([&] { world.differentiable_all_to_all(in, {1, 2}, {1, 1}); }), HasSubstr("[1, 1] of float64"));
  });
}

}  // namespace
}  // namespace titan::comm
