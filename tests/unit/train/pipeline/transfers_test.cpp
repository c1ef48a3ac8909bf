#include "core/train/pipeline/transfers.hpp"

#include <ATen/ops/arange.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/comm/communicator.hpp"
#include "tests/support/rank_threads.hpp"
#include "tests/unit/schedule/tables.hpp"

namespace titan::train {
namespace {

using schedule::Message;

const config::Mesh kTwoStages({2, 1, 1, 1, 1}, 2);
const Transfers::Kind kTraining{{2, 3}, true};

at::Tensor activation(std::int64_t micro_batch) {
  return at::arange(24, at::kFloat).view({2, 3, 4}).add(static_cast<double>(micro_batch));
}

/// Runs one body as the first stage and the other as the second.
template <class First, class Second>
void run_stages(First first, Second second) {
  const schedule::Table stages = schedule::two_ranks();
  titan::testing::run_rank_threads(kTwoStages, [&](comm::Communicator& communicator) {
    Transfers transfers(communicator.group("pp"), stages);
    communicator.rank() == 0 ? first(transfers, communicator) : second(transfers, communicator);
  });
}

std::size_t num_calls(comm::Communicator& communicator) { return communicator.records().snapshot().size(); }

TEST(Transfers, ShapesNeedNotBeKnown) {
  run_stages(
      [](Transfers& transfers, comm::Communicator& communicator) {
        for (std::uint32_t i = 0; i < 4; ++i) transfers.send({false, 0, 1, i}, activation(i), kTraining);
        transfers.finish();
        EXPECT_EQ(num_calls(communicator), 5U) << "one header for all of a kind";
      },
      [](Transfers& transfers, comm::Communicator&) {
        for (std::uint32_t i = 0; i < 4; ++i) {
          transfers.receive_activation({false, 0, 1, i}, kTraining, at::kCPU);
          EXPECT_TRUE(transfers.take({false, 0, 1, i}).equal(activation(i)));
        }
      });
}

TEST(Transfers, AnotherKindHasAHeaderOfItsOwn) {
  const Transfers::Kind longer{{2, 6}, true};
  run_stages(
      [&](Transfers& transfers, comm::Communicator& communicator) {
        transfers.send({false, 0, 1, 0}, activation(0), kTraining);
        transfers.send({false, 0, 1, 1}, at::zeros({2, 6, 4}, at::kDouble), longer);
        transfers.send({false, 0, 1, 2}, activation(2), kTraining);
        transfers.finish();
        EXPECT_EQ(num_calls(communicator), 5U);
      },
      [&](Transfers& transfers, comm::Communicator&) {
        transfers.receive_activation({false, 0, 1, 0}, kTraining, at::kCPU);
        transfers.receive_activation({false, 0, 1, 1}, longer, at::kCPU);
        transfers.receive_activation({false, 0, 1, 2}, kTraining, at::kCPU);
        EXPECT_EQ(transfers.take({false, 0, 1, 1}).scalar_type(), at::kDouble);
        EXPECT_TRUE(transfers.take({false, 0, 1, 2}).equal(activation(2))) << "in any order";
        EXPECT_TRUE(transfers.take({false, 0, 1, 0}).equal(activation(0)));
      });
}

TEST(Transfers, GradientsAreLikeTheirActivation) {
  run_stages(
      [](Transfers& transfers, comm::Communicator& communicator) {
        transfers.receive_gradient({true, 1, 0, 0}, activation(0));
        EXPECT_TRUE(transfers.take({true, 1, 0, 0}).equal(activation(9)));
        EXPECT_EQ(num_calls(communicator), 1U) << "no header";
      },
      [](Transfers& transfers, comm::Communicator&) {
        transfers.send({true, 1, 0, 0}, activation(9), kTraining);
        transfers.finish();
      });
}

TEST(Transfers, WhatWasNotPostedCannotBeTaken) {
  run_stages(
      [](Transfers& transfers, comm::Communicator&) {
        EXPECT_THROW(transfers.take({true, 1, 0, 0}), InternalError);
      },
      [](Transfers&, comm::Communicator&) {});
}

}  // namespace
}  // namespace titan::train
