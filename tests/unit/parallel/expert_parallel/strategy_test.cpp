#include "plugins/parallel/expert_parallel/strategy.hpp"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/unit/parallel/expert_parallel/expert_ranks.hpp"

namespace titan::parallel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using titan::testing::run_rank_threads;

config::Mesh mesh_of(std::int64_t shards, std::int64_t expert_degree) {
  return config::Mesh({1, 1, shards, 1, 1}, shards, expert_degree);
}

/// Rows that each rank has for each expert: expert 2 has none anywhere, rank 1 none at all.
at::Tensor counts_of(std::int64_t rank) {
  if (rank == 1) return at::zeros({kExperts}, at::kLong);
  return at::tensor({rank + 1, std::int64_t{0}, std::int64_t{0}, std::int64_t{3}}, at::kLong);
}

at::Tensor rows_of(std::int64_t rank) {
  const std::int64_t rows = counts_of(rank).sum().item<std::int64_t>();
  return at::arange(rows * kDim, at::kDouble).add(static_cast<double>(rank)).sin().view({rows, kDim});
}

struct Gradients {
  at::Tensor out, x;
  std::map<std::string, at::Tensor> weights;
};

/// Runs rows through the experts and back, with the output itself as its gradient.
Gradients run(ExpertRank& experts, const at::Tensor& rows, const at::Tensor& counts) {
  const at::Tensor x = rows.clone().requires_grad_(true), out = experts(x, counts);
  out.backward(out.detach());
  Gradients found{out.detach(), x.grad(), {}};
  for (const auto& parameter : experts.tree().parameters()) found.weights[parameter->name] = parameter->compute.grad();
  return found;
}

/// The same on one rank.
Gradients alone(const at::Tensor& rows, const at::Tensor& counts) {
  Gradients found;
  run_rank_threads(config::Mesh(), [&](comm::Communicator& communicator) {
    ExpertRank experts(communicator);
    found = run(experts, rows, counts);
  });
  return found;
}

/// All ranks' rows by expert, as one rank would have them, and where each rank's rows are among them.
struct Together {
  at::Tensor rows, counts;
  std::vector<at::Tensor> places;

  explicit Together(std::int64_t ranks) : counts(at::zeros({kExperts}, at::kLong)) {
    std::vector<std::vector<std::int64_t>> place(static_cast<std::size_t>(ranks));
    std::vector<at::Tensor> parts;
    std::int64_t next = 0;
    for (std::int64_t expert = 0; expert < kExperts; ++expert) {
      for (std::int64_t rank = 0; rank < ranks; ++rank) {
        const at::Tensor mine = counts_of(rank);
        const std::int64_t first = mine.narrow(0, 0, expert).sum().item<std::int64_t>();
        const std::int64_t number = mine[expert].item<std::int64_t>();
        parts.push_back(rows_of(rank).narrow(0, first, number));
        for (std::int64_t i = 0; i < number; ++i) place[static_cast<std::size_t>(rank)].push_back(next++);
      }
    }
    rows = at::cat(parts);
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      counts += counts_of(rank);
      places.push_back(at::tensor(place[static_cast<std::size_t>(rank)], at::kLong));
    }
  }
};

TEST(ExpertParallel, RowsTravelToTheirExpertsAndBack) {
  for (const std::int64_t ranks : {2, 4}) {
    const Together together(ranks);
    const Gradients expected = alone(together.rows, together.counts);
    run_rank_threads(mesh_of(ranks, ranks), [&](comm::Communicator& communicator) {
      ExpertRank experts(communicator);
      const std::int64_t rank = communicator.rank(), mine = kExperts / ranks;
      const Gradients found = run(experts, rows_of(rank), counts_of(rank));
      const at::Tensor& places = together.places[static_cast<std::size_t>(rank)];
      EXPECT_TRUE(at::allclose(found.out, expected.out.index_select(0, places), 1e-12, 1e-13)) << rank;
      EXPECT_TRUE(at::allclose(found.x, expected.x.index_select(0, places), 1e-12, 1e-13)) << rank;
      for (const auto& [name, gradient] : found.weights) {
        EXPECT_TRUE(at::allclose(gradient, expected.weights.at(name).narrow(0, rank * mine, mine), 1e-12, 1e-13))
            << name << " of rank " << rank;
      }
      // Whole already: nobody else has these experts.
      experts.tree().begin_ledger();
      experts.tree().collect_gradients();
      EXPECT_NO_THROW(experts.tree().check_ledger());
    });
  }
}

TEST(ExpertParallel, CallsAreThoseOfItsDescription) {
  run_rank_threads(mesh_of(2, 2), [&](comm::Communicator& communicator) {
    ExpertRank experts(communicator);
    run(experts, rows_of(communicator.rank()), counts_of(communicator.rank()));
    std::int64_t calls = 0;
    for (const comm::WorkRecord& record : communicator.records().snapshot()) {
      EXPECT_EQ(record.op, "alltoall_base");
      EXPECT_EQ(record.group, "ep");
      ++calls;
    }
    EXPECT_EQ(calls, 3 + 2);
  });
}

// A fault seeded on purpose: two ranks have each expert, and nobody sums over them.
TEST(ExpertParallel, ASkippedSumOverThoseWithTheSameExpertsIsNamed) {
  run_rank_threads(mesh_of(4, 2), [&](comm::Communicator& communicator) {
    ExpertRank experts(communicator);
    EXPECT_EQ(experts.applied().expert_parameters.size(), 3U);
    experts.tree().begin_ledger();
    run(experts, rows_of(communicator.rank()), counts_of(communicator.rank()));
    experts.tree().collect_gradients();
    try {
      experts.tree().check_ledger();
      ADD_FAILURE() << "the sum was skipped and not missed";
    } catch (const PluginError& error) {
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("experts.w1"), HasSubstr("still to be summed"), HasSubstr("axis dp_shard")));
    }
  });
}

std::string refusal(std::uint32_t ep, std::uint32_t tp, std::int64_t num_experts) {
  titan_mesh_facts mesh{};
  mesh.ep = ep;
  mesh.tp = tp;
  titan_model_facts model{};
  model.num_experts = num_experts;
  const plugin::HostTable host{plugin::HostServices{nullptr, nullptr, 0, 1}};
  try {
    kExpertParallel.validate(sdk::Config(host.get()), mesh, model);
  } catch (const sdk::ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(ExpertParallel, WhatDoesNotFitIsRefusedByName) {
  EXPECT_EQ(refusal(1, 1, 0), "");
  EXPECT_EQ(refusal(4, 2, 8), "");
  EXPECT_THAT(refusal(2, 1, 0), HasSubstr("expert_parallel_degree must be 1 for a model without experts: 2"));
  EXPECT_THAT(refusal(3, 1, 8), AllOf(HasSubstr("must divide the number of experts: 3, 8 = 2 x 3 + 2"),
                                      HasSubstr("1, 2, 4, 8 would fit")));
  EXPECT_THAT(refusal(2, 4, 8), HasSubstr("must be a multiple of parallelism.tensor_parallel_degree"));
}

}  // namespace
}  // namespace titan::parallel
