#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/base/abi_error.hpp"
#include "core/comm/communicator.hpp"
#include "tests/support/error_text.hpp"
#include "tests/support/rank_threads.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::comm {
namespace {

using ::testing::HasSubstr;
using titan::testing::error_text;
using titan::testing::run_rank_threads;

titan_string text(std::string_view value) { return {value.data(), value.size()}; }

/// The table on two ranks.
class CollectiveTable : public ::testing::Test {
 protected:
  using Body = std::function<void(titan_mesh* mesh, titan_group* world, Communicator& communicator)>;
  void on_two_ranks(const Body& body) const {
    run_rank_threads(2, [&](Communicator& communicator) {
      auto* mesh = reinterpret_cast<titan_mesh*>(&communicator);
      titan_group* world = nullptr;
      ASSERT_EQ(error_text(table_.group(mesh, text("world"), &world)), "");
      body(mesh, world, communicator);
    });
  }
  static titan_tensor lend(const at::Tensor& tensor) { return handle::lend(tensor); }

  const titan_collective_v1& table_ = *collective_interface();
};

TEST_F(CollectiveTable, TellsWhatAGroupIs) {
  on_two_ranks([&](titan_mesh* mesh, titan_group* world, Communicator& communicator) {
    EXPECT_EQ(table_.size(world), 2u);
    EXPECT_EQ(table_.rank(world), static_cast<std::uint32_t>(communicator.rank()));
    const titan_string name = table_.name(world);
    EXPECT_EQ(std::string_view(name.data, name.size), "world");
    titan_group* none = nullptr;
    EXPECT_THAT(error_text(table_.group(mesh, text("dq"), &none)), HasSubstr("dq"));
  });
}

TEST_F(CollectiveTable, StartsAndWaits) {
  on_two_ranks([&](titan_mesh*, titan_group* world, Communicator& communicator) {
    const at::Tensor tensor = at::full({2}, communicator.rank() + 1, at::kFloat), out = at::empty({4});
    titan_work* work = nullptr;
    ASSERT_EQ(error_text(table_.all_reduce(world, lend(tensor), TITAN_REDUCE_MAX, &work)), "");
    ASSERT_EQ(error_text(table_.wait(work)), "");
    EXPECT_TRUE(at::equal(tensor, at::full({2}, 2, at::kFloat)));
    ASSERT_EQ(error_text(table_.all_gather(world, lend(out), lend(tensor), &work)), "");
    ASSERT_EQ(error_text(table_.wait(work)), "");
    EXPECT_TRUE(at::equal(out, at::full({4}, 2, at::kFloat)));
    ASSERT_EQ(error_text(table_.reduce_scatter(world, lend(tensor), lend(out), TITAN_REDUCE_SUM, &work)), "");
    ASSERT_EQ(error_text(table_.wait(work)), "");
    EXPECT_TRUE(at::equal(tensor, at::full({2}, 4, at::kFloat)));
    const std::int64_t rows[] = {1, 1};
    ASSERT_EQ(error_text(table_.all_to_all(world, lend(out.narrow(0, 0, 2)), lend(tensor), rows, rows, &work)), "");
    ASSERT_EQ(error_text(table_.wait(work)), "");
    ASSERT_EQ(error_text(table_.broadcast(world, lend(tensor), 1, &work)), "");
    ASSERT_EQ(error_text(table_.wait(work)), "");
    ASSERT_EQ(error_text(table_.barrier(world)), "");
    EXPECT_EQ(table_.wait(nullptr), nullptr);
  });
}

TEST_F(CollectiveTable, SendsAndReceives) {
  on_two_ranks([&](titan_mesh*, titan_group* world, Communicator& communicator) {
    const at::Tensor tensor = at::full({2}, communicator.rank() + 1, at::kFloat);
    titan_work* work = nullptr;
    if (communicator.rank() == 0) {
      ASSERT_EQ(error_text(table_.send(world, lend(tensor), 1, 5, &work)), "");
    } else {
      ASSERT_EQ(error_text(table_.receive(world, lend(tensor), 0, 5, &work)), "");
    }
    ASSERT_EQ(error_text(table_.wait(work)), "");
    EXPECT_TRUE(at::equal(tensor, at::ones({2})));
  });
}

TEST_F(CollectiveTable, DifferentiableFormsGiveOwnedTensors) {
  on_two_ranks([&](titan_mesh*, titan_group* world, Communicator&) {
    const at::Tensor in = at::ones({2, 2}).requires_grad_(true);
    titan_tensor made = nullptr;
    ASSERT_EQ(error_text(table_.differentiable_all_gather(world, lend(in), -1, &made)), "");
    const at::Tensor wide = handle::own(made);
    EXPECT_EQ(wide.sizes(), (std::vector<std::int64_t>{2, 4}));
    ASSERT_EQ(error_text(table_.differentiable_reduce_scatter(world, lend(wide), 1, &made)), "");
    const at::Tensor back = handle::own(made);
    ASSERT_EQ(error_text(table_.differentiable_all_reduce(world, lend(back), &made)), "");
    const at::Tensor sum = handle::own(made);
    const std::int64_t rows[] = {1, 1};
    ASSERT_EQ(error_text(table_.differentiable_all_to_all(world, lend(sum), rows, rows, &made)), "");
    torch::autograd::backward({handle::own(made).sum()}, {});
    EXPECT_TRUE(at::equal(in.grad(), at::full({2, 2}, 4, at::kFloat)));
  });
}

TEST_F(CollectiveTable, NamesModulesInRecords) {
  on_two_ranks([&](titan_mesh* mesh, titan_group* world, Communicator& communicator) {
    table_.set_module(mesh, text("layers.3"));
    ASSERT_EQ(error_text(table_.barrier(world)), "");
    table_.set_module(mesh, {nullptr, 0});
    ASSERT_EQ(error_text(table_.barrier(world)), "");
    const std::vector<WorkRecord> records = communicator.records().snapshot();
    EXPECT_EQ(records[0].module, "layers.3");
    EXPECT_EQ(records[1].module, "");
  });
}

TEST_F(CollectiveTable, RefusesWhatItCannotUse) {
  on_two_ranks([&](titan_mesh* mesh, titan_group* world, Communicator&) {
    const at::Tensor tensor = at::ones({2});
    titan_work* work = nullptr;
    titan_tensor made = nullptr;
    titan_group* group = nullptr;
    EXPECT_THAT(error_text(table_.group(nullptr, text("world"), &group)), HasSubstr("mesh"));
    EXPECT_THAT(error_text(table_.group(mesh, {nullptr, 0}, &group)), HasSubstr("axis"));
    EXPECT_THAT(error_text(table_.group(mesh, text("world"), nullptr)), HasSubstr("out"));
    EXPECT_THAT(error_text(table_.all_reduce(nullptr, lend(tensor), TITAN_REDUCE_SUM, &work)), HasSubstr("group"));
    EXPECT_THAT(error_text(table_.all_reduce(world, nullptr, TITAN_REDUCE_SUM, &work)), HasSubstr("tensor"));
    EXPECT_THAT(error_text(table_.all_reduce(world, lend(tensor), 9, &work)), HasSubstr("reduction: number 9"));
    EXPECT_THAT(error_text(table_.all_reduce(world, lend(tensor), TITAN_REDUCE_SUM, nullptr)), HasSubstr("work"));
    const std::int64_t rows[] = {1, 1};
    EXPECT_THAT(error_text(table_.all_to_all(world, lend(tensor), lend(tensor), nullptr, rows, &work)),
                HasSubstr("out_rows"));
    EXPECT_THAT(error_text(table_.differentiable_all_reduce(world, lend(tensor), nullptr)), HasSubstr("out"));
    EXPECT_THAT(error_text(table_.differentiable_all_gather(world, lend(tensor), 3, &made)), HasSubstr("no such dim"));
    EXPECT_EQ(table_.rank(nullptr), 0u);
    EXPECT_EQ(table_.size(nullptr), 0u);
    EXPECT_EQ(table_.name(nullptr).data, nullptr);
    table_.set_module(nullptr, text("x"));
    ASSERT_EQ(error_text(table_.barrier(world)), "") << "nothing was started";
  });
}

TEST_F(CollectiveTable, GivesALostPeerItsCode) {
  on_two_ranks([&](titan_mesh*, titan_group* world, Communicator& communicator) {
    if (communicator.rank() == 1) return communicator.abort("enough");
    titan_error* error = table_.barrier(world);
    ASSERT_NE(error, nullptr);
    EXPECT_EQ(error->code, TITAN_ERROR_UNAVAILABLE);
    EXPECT_THAT(error->text, HasSubstr("enough"));
    delete_abi_error(error);
  });
}

}  // namespace
}  // namespace titan::comm
