#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/nn/tree.hpp"
#include "core/tensor/guard.hpp"
#include "core/tensor/random_source.hpp"
#include "tests/support/declare.hpp"
#include "titan/torch/tensor.hpp"

namespace titan::nn {
namespace {

/// Puts the next number of the scope's generator into *self.
titan_error* draw(void* self, titan_frame*, const titan_tensor* in, std::uint32_t, titan_tensor* out, std::uint32_t) {
  return tensor::guarded([&] {
    const at::Generator* source = tensor::random_source();
    TITAN_CHECK(source != nullptr, "a module runs without a generator");
    at::Generator generator = *source;
    *static_cast<std::uint64_t*>(self) = generator.current_seed();
    out[0] = handle::release(handle::borrow(in[0]));
  });
}

/// A chain of two blocks; what seed its modules draw from.
struct DrawingTree {
  Tree tree;
  std::uint64_t seed = 0;
  ModuleId first = tree.add_custom(TITAN_MODULE_ROOT, "first", draw, &seed, nullptr);
  ModuleId second = tree.add_custom(TITAN_MODULE_ROOT, "second", draw, &seed, nullptr);

  DrawingTree() {
    tree.add_to_chain(first, 0);
    tree.add_to_chain(second, 0);
  }
  void materialise(std::uint64_t with_seed) { tree.materialise({}, at::kCPU, with_seed); }
};

TEST(RandomState, IsThatOfTheSeed) {
  DrawingTree one, other;
  one.materialise(7);
  other.materialise(7);
  EXPECT_TRUE(one.tree.random_state().equal(other.tree.random_state()));
  DrawingTree another;
  another.materialise(8);
  EXPECT_FALSE(one.tree.random_state().equal(another.tree.random_state()));
}

TEST(RandomState, IsDistinctForEachPipelineStage) {
  DrawingTree whole, first, second;
  first.tree.keep_chain({{0, 0, 1}});
  second.tree.keep_chain({{1, 1, 1}});
  for (DrawingTree* each : {&whole, &first, &second}) each->materialise(7);
  EXPECT_TRUE(first.tree.random_state().equal(whole.tree.random_state()));
  EXPECT_FALSE(second.tree.random_state().equal(whole.tree.random_state()));
  DrawingTree eight;
  eight.materialise(8);
  EXPECT_TRUE(second.tree.random_state().equal(eight.tree.random_state())) << "the seed + the stage";
}

TEST(RandomState, ModulesDrawFromItWhileTheyRun) {
  DrawingTree drawing;
  drawing.materialise(7);
  EXPECT_EQ(tensor::random_source(), nullptr);
  drawing.tree.call(drawing.first, {at::ones({1})});
  EXPECT_EQ(drawing.seed, 7U);
  EXPECT_EQ(tensor::random_source(), nullptr);
}

TEST(RandomState, IsThereWithTheParameters) {
  DrawingTree drawing;
  EXPECT_THROW(drawing.tree.random_state(), PluginError);
  drawing.materialise(7);
  const at::Tensor state = drawing.tree.random_state();
  drawing.tree.set_random_state(state);
  EXPECT_TRUE(drawing.tree.random_state().equal(state));
}

}  // namespace
}  // namespace titan::nn
