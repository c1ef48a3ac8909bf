#include "plugins/parallel/data_parallel/data_parallel.hpp"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "core/base/error.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/unit/parallel/data_parallel/rank_model.hpp"

namespace titan::parallel {
namespace {

using ::testing::HasSubstr;
using titan::testing::relative_difference;
using titan::testing::run_rank_threads;

/// Ranks are threads already.
class OneThreadPerRank : public ::testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};
const auto* const kOneThreadPerRank = ::testing::AddGlobalTestEnvironment(new OneThreadPerRank);

config::Mesh mesh(std::int64_t replicas, std::int64_t shards) {
  return {{1, replicas, shards, 1, 1}, replicas * shards};
}

/// Storage and gradient of every parameter after a step on one rank.
struct Reference {
  std::map<std::string, at::Tensor> storage, gradient;
};

std::vector<at::Tensor> batches(std::size_t count) {
  std::vector<at::Tensor> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(token_rows(12, static_cast<std::int64_t>(i)));
  return made;
}

Reference reference(const std::vector<at::Tensor>& micro_batches, const ModelOptions& options = {}) {
  Reference found;
  run_rank_threads(mesh(1, 1), [&](comm::Communicator& communicator) {
    RankModel model(communicator, options);
    EXPECT_EQ(model.strategy(), nullptr) << "one rank needs no strategy";
    model.step(micro_batches);
    for (const auto& parameter : model.tree().parameters()) {
      found.storage[parameter->name] = parameter->storage.detach();
      found.gradient[parameter->name] = parameter->gradient;
    }
  });
  return found;
}

at::Tensor part_of(const at::Tensor& whole, const nn::Box& part) {
  at::Tensor found = whole;
  for (std::size_t dim = 0; dim < part.size.size(); ++dim) {
    found = found.narrow(static_cast<std::int64_t>(dim), part.offset[dim], part.size[dim]);
  }
  return found;
}

void expect_same(RankModel& model, const Reference& expected) {
  ASSERT_NO_THROW(model.tree().check_ledger());
  for (const auto& parameter : model.tree().parameters()) {
    EXPECT_TRUE(parameter->storage.equal(part_of(expected.storage.at(parameter->name), parameter->part)));
    const at::Tensor part = part_of(expected.gradient.at(parameter->name), parameter->part);
    EXPECT_LT(relative_difference(parameter->gradient, part), 1e-12) << parameter->name;
  }
}

/// How often a rank called each collective: "all_gather fsdp".
std::map<std::string, int> counts(comm::Communicator& communicator) {
  std::map<std::string, int> found;
  for (const auto& record : communicator.records().snapshot()) {
    if (record.group != "loss") ++found[record.op + " " + record.group];  // the first step's search, unused parameters
  }
  return found;
}

struct Layout {
  const char* name;
  std::int64_t replicas, shards;
  Reshard reshard;
  std::size_t num_micro_batches;
};

class DataParallelLayouts : public ::testing::TestWithParam<Layout> {};

TEST_P(DataParallelLayouts, GradientsAreThoseOfOneRank) {
  const Layout layout = GetParam();
  const auto micro_batches = batches(layout.num_micro_batches);
  const Reference expected = reference(micro_batches);
  run_rank_threads(mesh(layout.replicas, layout.shards), [&](comm::Communicator& communicator) {
    ModelOptions options;
    options.strategy.reshard = layout.reshard;
    RankModel model(communicator, options);
    for (int step = 0; step < 2; ++step) {
      model.step(micro_batches);
      expect_same(model, expected);
      EXPECT_EQ(model.gathered_bytes(), 0U);
      model.clear();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, DataParallelLayouts,
                         ::testing::Values(Layout{"ddp2", 2, 1, Reshard::by_default, 1},
                                           Layout{"ddp3_accumulated", 3, 1, Reshard::by_default, 3},
                                           Layout{"fsdp2", 1, 2, Reshard::by_default, 1},
                                           Layout{"fsdp2_always", 1, 2, Reshard::always, 2},
                                           Layout{"fsdp2_never", 1, 2, Reshard::never, 2},
                                           Layout{"fsdp3", 1, 3, Reshard::by_default, 2},
                                           Layout{"fsdp4_empty_shards", 1, 4, Reshard::by_default, 1},
                                           Layout{"hsdp2x2", 2, 2, Reshard::by_default, 1},
                                           Layout{"hsdp2x2_accumulated", 2, 2, Reshard::never, 3}),
                         [](const auto& layout) { return layout.param.name; });

TEST(DataParallel, CollectivesAreThoseOfTheTable) {
  const auto counted = [](std::int64_t replicas, std::int64_t shards, Reshard reshard, std::int64_t bucket_elements) {
    std::map<std::string, int> found;
    run_rank_threads(mesh(replicas, shards), [&](comm::Communicator& communicator) {
      ModelOptions options;
      options.strategy = {reshard, bucket_elements};
      RankModel model(communicator, options);
      model.step(batches(3));
      if (communicator.rank() == 0) found = counts(communicator);
    });
    return found;
  };
  using Counts = std::map<std::string, int>;
  const int units = ModelSizes().units(), micro_batches = 3;
  EXPECT_EQ(counted(1, 2, Reshard::by_default, 1), (Counts{{"_allgather_base fsdp", (2 * units - 1) * micro_batches},
                                                           {"_reduce_scatter_base fsdp", units * micro_batches}}));
  EXPECT_EQ(counted(1, 2, Reshard::always, 1), (Counts{{"_allgather_base fsdp", 2 * units * micro_batches},
                                                       {"_reduce_scatter_base fsdp", units * micro_batches}}));
  EXPECT_EQ(counted(1, 2, Reshard::never, 1), (Counts{{"_allgather_base fsdp", units * micro_batches},
                                                      {"_reduce_scatter_base fsdp", units * micro_batches}}));
  EXPECT_EQ(counted(2, 2, Reshard::never, 1), (Counts{{"_allgather_base fsdp", units * micro_batches},
                                                      {"_reduce_scatter_base fsdp", units * micro_batches},
                                                      {"all_reduce dp_replicate", units}}));
  EXPECT_EQ(counted(2, 1, Reshard::by_default, 1), (Counts{{"all_reduce dp_replicate", units}}));
  EXPECT_EQ(counted(2, 1, Reshard::by_default, 1 << 20), (Counts{{"all_reduce dp_replicate", 1}})) << "one bucket";
}

/// The units for which a rank has started a collective so far.
std::vector<std::string> units_of(comm::Communicator& communicator, const std::string& op) {
  std::vector<std::string> found;
  for (const auto& record : communicator.records().snapshot()) {
    if (record.op == op) found.push_back(record.module);
  }
  return found;
}

TEST(DataParallel, TheNextGatherRunsWhileAUnitComputes) {
  run_rank_threads(mesh(1, 2), [](comm::Communicator& communicator) {
    RankModel model(communicator, {});
    std::vector<std::string> in_forward, in_backward;
    for (nn::ModuleId id = 1; id < model.tree().num_modules(); ++id) {
      if (model.tree().name(id) != "layers.1.up") continue;
      model.tree().attach(id, 500, [&](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
        in_forward = units_of(communicator, "_allgather_base");
        nn::Tensors out = next(frame, in);
        out[0].register_hook([&](const at::TensorBase&) { in_backward = units_of(communicator, "_allgather_base"); });
        return out;
      });
    }
    model.step(batches(1));
    EXPECT_EQ(in_forward, (std::vector<std::string>{"tok_embeddings", "layers.0", "layers.1", "norm"}));
    EXPECT_EQ(std::vector<std::string>(in_backward.begin() + 5, in_backward.end()),
              (std::vector<std::string>{"norm", "layers.1", "layers.0"}));
  });
}

TEST(DataParallel, BucketsAreSummedWhileBackwardRuns) {
  run_rank_threads(mesh(2, 1), [](comm::Communicator& communicator) {
    ModelOptions options;
    options.strategy.bucket_elements = 1;
    RankModel model(communicator, options);
    std::vector<std::string> started;
    model.tree().attach(model.tree().chain()[1], 500, [&](nn::Frame& frame, nn::Next next, const nn::Tensors& in) {
      nn::Tensors out = next(frame, in);
      out[0].register_hook([&](const at::TensorBase&) { started = units_of(communicator, "all_reduce"); });
      return out;
    });
    model.step(batches(1));
    EXPECT_EQ(started, (std::vector<std::string>{"output", "norm", "layers.1"})) << "before layers.0's backward";
  });
}

TEST(DataParallel, RecordsNameTheUnit) {
  run_rank_threads(mesh(1, 2), [](comm::Communicator& communicator) {
    RankModel model(communicator, {});
    model.step(batches(1));
    for (const auto& record : communicator.records().snapshot()) {
      if (record.group == "loss") continue;
      EXPECT_THAT(record.module, ::testing::AnyOf("tok_embeddings", "layers.0", "layers.1", "norm", "output"));
    }
  });
}

/// What each rank does differently in a micro-batch.
using Change = std::function<void(RankModel&, std::int64_t rank, std::size_t micro_batch)>;

/// Two micro-batches of two data ranks, passed one after another on a single rank with the same changes.
Reference reference_with(const std::vector<at::Tensor>& micro_batches, const Change& change) {
  Reference found;
  run_rank_threads(mesh(1, 1), [&](comm::Communicator& communicator) {
    RankModel model(communicator, {});
    for (std::size_t i = 0; i < micro_batches.size(); ++i) {
      for (std::int64_t rank = 0; rank < 2; ++rank) {
        change(model, rank, i);
        model.micro_batch(micro_batches[i].slice(0, rank, std::nullopt, 2), 0, true);
      }
    }
    for (const auto& parameter : model.tree().parameters()) {
      found.storage[parameter->name] = parameter->storage.detach();
      found.gradient[parameter->name] = parameter->gradient.div(2);  // each pass was divided by its own rows
    }
  });
  return found;
}

void expect_same_on_two_ranks(const Change& change) {
  const auto micro_batches = batches(2);
  const Reference expected = reference_with(micro_batches, change);
  for (const auto& [replicas, shards] : {std::pair{1, 2}, {2, 1}}) {
    for (const Reshard reshard : {Reshard::always, Reshard::never}) {
      run_rank_threads(mesh(replicas, shards), [&](comm::Communicator& communicator) {
        ModelOptions options;
        options.strategy.reshard = reshard;
        RankModel model(communicator, options);
        model.tree().begin_ledger();
        for (std::size_t i = 0; i < micro_batches.size(); ++i) {
          change(model, communicator.rank(), i);
          model.micro_batch(micro_batches[i], static_cast<std::uint32_t>(i), i + 1 == micro_batches.size());
        }
        expect_same(model, expected);
      });
    }
  }
}

TEST(DataParallel, AParameterMayBeUnusedInAMicroBatch) {
  expect_same_on_two_ranks([](RankModel& model, std::int64_t rank, std::size_t micro_batch) {
    model.skip_down_of_layer = rank == 1 && micro_batch == 0 ? 0 : -1;
  });
}

TEST(DataParallel, ABlockMayGiveItsInputBackOnOneRank) {
  for (const int layer : {0, 1}) {
    expect_same_on_two_ranks([layer](RankModel& model, std::int64_t rank, std::size_t micro_batch) {
      model.pass_through_layer = rank == 1 && micro_batch == 0 ? layer : -1;
    });
  }
}

TEST(DataParallel, AParameterThatNoRankUsesIsRefused) {
  for (const auto& layout : {mesh(1, 2), mesh(2, 1)}) {
    run_rank_threads(layout, [](comm::Communicator& communicator) {
      RankModel model(communicator, {});
      model.skip_down_of_layer = 1;
      try {
        model.step(batches(2));
        FAIL() << "an unused parameter passed";
      } catch (const Error& error) {
        EXPECT_EQ(error.exit(), Exit::internal);
        EXPECT_THAT(error.what(), HasSubstr("its forward does not use on any rank: layers.1.down.weight"));
      }
    });
  }
}

TEST(DataParallel, TheSearchForUnusedParametersIsMadeOnce) {
  run_rank_threads(mesh(2, 2), [](comm::Communicator& communicator) {
    RankModel model(communicator, {});
    for (int step = 0; step < 3; ++step) {
      model.step(batches(1));
      model.update();
    }
    const auto records = communicator.records().snapshot();
    EXPECT_EQ(std::count_if(records.begin(), records.end(), [](const auto& record) { return record.group == "loss"; }),
              1);
  });
}

TEST(DataParallel, ModulesBesideTheChainAreUnitsToo) {
  ModelOptions options;
  options.output_in_loss = true;
  const auto micro_batches = batches(2);
  const Reference expected = reference(micro_batches, options);
  for (const auto& layout : {mesh(1, 2), mesh(2, 1), mesh(2, 2)}) {
    run_rank_threads(layout, [&](comm::Communicator& communicator) {
      RankModel model(communicator, options);
      model.step(micro_batches);
      expect_same(model, expected);
      EXPECT_EQ(model.gathered_bytes(), 0U);
    });
  }
}

TEST(DataParallel, ATiedWeightStaysWhileMicroBatchesAreOnTheirWay) {
  ModelOptions options;
  options.tied = true;
  const auto micro_batches = batches(3);
  const Reference expected = reference(micro_batches, options);
  options.strategy.stages = {{0, 0, static_cast<std::uint32_t>(ModelSizes().units()), 0}};
  for (const Reshard reshard : {Reshard::always, Reshard::by_default}) {
    options.strategy.reshard = reshard;
    run_rank_threads(mesh(1, 2), [&](comm::Communicator& communicator) {
      RankModel model(communicator, options);
      model.step_in_flight(micro_batches);
      expect_same(model, expected);
      EXPECT_EQ(model.gathered_bytes(), 0U);
    });
  }
}

TEST(DataParallel, ValidationGathersAndLetsGo) {
  double expected = 0;
  run_rank_threads(mesh(1, 1), [&](comm::Communicator& communicator) {
    expected = RankModel(communicator, {}).validate(token_rows(12, 3));
  });
  for (const Reshard reshard : {Reshard::always, Reshard::never}) {
    std::vector<double> losses(2);
    run_rank_threads(mesh(1, 2), [&](comm::Communicator& communicator) {
      ModelOptions options;
      options.strategy.reshard = reshard;
      RankModel model(communicator, options);
      losses[static_cast<std::size_t>(communicator.rank())] = model.validate(token_rows(12, 3));
      EXPECT_EQ(model.gathered_bytes(), 0U);
      EXPECT_EQ(counts(communicator), (std::map<std::string, int>{{"_allgather_base fsdp", ModelSizes().units()}}));
    });
    EXPECT_NEAR(losses[0] + losses[1], expected, 1e-12);
  }
}

TEST(DataParallel, AFailedMicroBatchLeavesNothingBehind) {
  const auto micro_batches = batches(1);
  const Reference expected = reference(micro_batches);
  for (const auto& [replicas, shards] : {std::pair{1, 2}, {2, 1}, {2, 2}}) {
    run_rank_threads(mesh(replicas, shards), [&](comm::Communicator& communicator) {
      RankModel model(communicator, {});
      model.fail_in_layer = 1;
      EXPECT_THROW(model.micro_batch(micro_batches[0], 0, true), Error);
      model.fail_in_layer = -1;
      model.step(micro_batches);
      expect_same(model, expected);
      EXPECT_EQ(model.gathered_bytes(), 0U);
    });
  }
}

/// What each of three ranks says when rank 1 fails, and the exit codes.
struct Failures {
  std::vector<std::string> texts{3};
  std::vector<Exit> exits{3, Exit::done};
};

Failures failures(const config::Mesh& layout, int RankModel::*where) {
  Failures seen;
  const auto run = [&](comm::Communicator& communicator) {
    RankModel model(communicator, {});
    if (communicator.rank() == 1) model.*where = 1;
    try {
      model.step(batches(1));
    } catch (const Error& error) {
      seen.texts[static_cast<std::size_t>(communicator.rank())] = error.what();
      seen.exits[static_cast<std::size_t>(communicator.rank())] = error.exit();
      throw;
    }
  };
  EXPECT_THROW(run_rank_threads(layout, run), Error);
  return seen;
}

TEST(DataParallel, ARankThatFailsStopsTheOthers) {
  for (const auto where : {&RankModel::fail_in_layer, &RankModel::fail_in_backward_of_layer}) {
    for (const auto& layout : {mesh(1, 3), mesh(3, 1)}) {
      const Failures seen = failures(layout, where);
      EXPECT_THAT(seen.texts[1], HasSubstr("failure on purpose"));
      for (const std::size_t other : {0U, 2U}) {
        EXPECT_THAT(seen.texts[other], HasSubstr("rank 1 failed")) << "names who is to blame";
        EXPECT_EQ(seen.exits[other], Exit::unavailable) << seen.texts[other];
      }
    }
  }
}

TEST(DataParallel, WeightsAfterSomeUpdatesAreThoseOfOneRank) {
  constexpr int kSteps = 4;
  std::map<std::string, at::Tensor> expected;
  const auto train = [&](RankModel& model) {
    for (int step = 0; step < kSteps; ++step) {
      model.step({token_rows(12, step)});
      model.update();
    }
  };
  run_rank_threads(mesh(1, 1), [&](comm::Communicator& communicator) {
    RankModel model(communicator, {});
    train(model);
    for (const auto& parameter : model.tree().parameters()) expected[parameter->name] = parameter->storage.detach();
  });
  for (const auto& layout : {mesh(1, 4), mesh(2, 2), mesh(2, 1)}) {
    run_rank_threads(layout, [&](comm::Communicator& communicator) {
      RankModel model(communicator, {});
      train(model);
      for (const auto& parameter : model.tree().parameters()) {
        const at::Tensor part = part_of(expected.at(parameter->name), parameter->part);
        EXPECT_LT(relative_difference(parameter->storage, part), 1e-9) << parameter->name;
      }
    });
  }
}

TEST(DataParallel, WithoutAStrategyTheLedgerRefusesTheStep) {
  run_rank_threads(mesh(2, 2), [](comm::Communicator& communicator) {
    ModelOptions options;
    options.parallel = false;
    RankModel model(communicator, options);
    model.step(batches(1));
    try {
      model.tree().check_ledger();
      FAIL() << "an unsummed gradient passed";
    } catch (const PluginError& error) {
      EXPECT_THAT(error.what(), HasSubstr("[tok_embeddings.weight] the gradient is still to be summed"));
      EXPECT_THAT(error.what(), HasSubstr("axis dp_replicate"));
    }
  });
}

TEST(DataParallel, GathersInComputeDtypeAndReducesInReduceDtype) {
  run_rank_threads(mesh(2, 2), [](comm::Communicator& communicator) {
    ModelOptions options;
    options.precision = {at::kFloat, at::kBFloat16, at::kFloat};
    RankModel model(communicator, options);
    model.step(batches(2));
    for (const auto& record : communicator.records().snapshot()) {
      EXPECT_EQ(record.dtype, record.op == "_allgather_base" ? at::kBFloat16 : at::kFloat) << record.op;
    }
    for (const auto& parameter : model.tree().parameters()) EXPECT_EQ(parameter->gradient.scalar_type(), at::kFloat);
  });
}

TEST(DataParallel, TwoRunsGiveTheSameBits) {
  const auto gradients = [] {
    std::map<std::string, at::Tensor> found;
    run_rank_threads(mesh(2, 2), [&](comm::Communicator& communicator) {
      ModelOptions options;
      options.precision = {at::kFloat, at::kFloat, at::kFloat};
      RankModel model(communicator, options);
      model.step(batches(2));
      if (communicator.rank() != 0) return;
      for (const auto& parameter : model.tree().parameters()) found[parameter->name] = parameter->gradient.clone();
    });
    return found;
  };
  const auto first = gradients(), second = gradients();
  for (const auto& [name, gradient] : first) EXPECT_TRUE(gradient.equal(second.at(name))) << name;
}

TEST(DataParallel, SaysWhatItIs) {
  const auto said = [](const config::Mesh& layout) {
    std::string text;
    run_rank_threads(layout, [&](comm::Communicator& communicator) {
      RankModel model(communicator, {});
      if (communicator.rank() == 0) text = model.strategy()->description();
    });
    return text;
  };
  EXPECT_EQ(said(mesh(1, 2)), "FSDP over 2 ranks, 5 units");
  EXPECT_EQ(said(mesh(2, 2)), "HSDP: 2 replicas of 2 shards, 5 units");
  EXPECT_EQ(said(mesh(3, 1)), "DDP over 3 ranks, 5 units");
}

TEST(ReshardPolicy, IsReadFromItsOption) {
  EXPECT_EQ(reshard_policy("default"), Reshard::by_default);
  EXPECT_EQ(reshard_policy("always"), Reshard::always);
  EXPECT_EQ(reshard_policy("never"), Reshard::never);
  EXPECT_THROW(reshard_policy("sometimes"), sdk::ConfigError);
}

}  // namespace
}  // namespace titan::parallel
