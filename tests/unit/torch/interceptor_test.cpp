#include "titan/torch/interceptor.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>

#include <memory>

#include "core/base/error.hpp"
#include "tests/unit/torch/strategy_fixture.hpp"

namespace titan::strategy {
namespace {

using ::testing::HasSubstr;

static_assert(interceptor_detail::fits("layers.*", "layers.12"));
static_assert(!interceptor_detail::fits("layers.*", "layers.0.attention"));
static_assert(interceptor_detail::fits("layers.*.attention", "layers.0.attention"));
static_assert(interceptor_detail::fits("**attention", "layers.0.attention"));
static_assert(interceptor_detail::fits("layers.**", "layers.0.attention.wq"));
static_assert(!interceptor_detail::fits("layers", "layers.0"));
static_assert(interceptor_detail::fits("*", "norm"));
static_assert(!interceptor_detail::fits("", "norm"));

class Interceptor : public StrategyTest {
 protected:
  Interceptor() { materialise(); }
  at::Tensor call(std::size_t module, const at::Tensor& x) { return owner_.call(modules_[module], {x}).front(); }
  const at::Tensor x_ = at::ones({1, 2}, at::kDouble);
};

TEST_F(Interceptor, RunsAroundEveryModuleOfThePattern) {
  attach(tree_, "layers.*", [](Frame& f, Next next, Inputs in) {
    Tensors out = next(f, {in[0] * 3});
    out[0] = out[0] + 1;
    return out;
  });
  EXPECT_TRUE(call(0, x_).equal(at::ones({1, 2}, at::kDouble) * 7));
  EXPECT_TRUE(call(1, x_).equal(at::ones({1, 2}, at::kDouble) * 7));
  EXPECT_TRUE(call(2, x_).equal(at::ones({1, 2}, at::kDouble) * 2)) << "norm.inner does not fit";
}

TEST_F(Interceptor, KnowsItsModuleAndMayReplaceIt) {
  attach(tree_, tree_.chain()[1], [](Frame& f, Next, Inputs in) -> Tensors {
    EXPECT_EQ(f.module().name(), "layers.1");
    EXPECT_EQ(f.num_outputs(), 1U);
    return {in[0]};
  });
  EXPECT_TRUE(call(1, x_).equal(x_));
}

TEST_F(Interceptor, SmallerPrioritiesRunFurtherOut) {
  std::string order;
  for (const int priority : {20, 5}) {
    attach(Tree(handle(priority)), "layers.0", [&order, priority](Frame& f, Next next, Inputs in) {
      order += std::to_string(priority) + " ";
      return next(f, in);
    });
  }
  call(0, x_);
  EXPECT_EQ(order, "5 20 ");
}

TEST_F(Interceptor, LivesAsLongAsTheTree) {
  const auto token = std::make_shared<int>(0);
  {
    nn::Tree other;
    const auto id = other.add_leaf(TITAN_MODULE_ROOT, "a", "titan.linear", {});
    other.add_parameter(id, testing::declare("weight", shape_, 1.0));
    const Tree view(sdk::TreeHandle{sdk::Host(host_.get()), reinterpret_cast<titan_tree*>(&other), 0});
    attach(view, "a", [token](Frame& f, Next next, Inputs in) { return next(f, in); });
    EXPECT_GT(token.use_count(), 1);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(Interceptor, ErrorsNameTheModuleAndKeepTheirCode) {
  attach(tree_, "layers.0", [](Frame&, Next, Inputs) -> Tensors { throw sdk::DataError("bad ", 3); });
  attach(tree_, "layers.1", [](Frame&, Next, Inputs) -> Tensors { return {}; });
  attach(tree_, "norm.inner", [](Frame& f, Next next, Inputs in) { return next(f, {in[0].view({7})}); });
  const auto error_of = [&](std::size_t module) -> std::pair<Exit, std::string> {
    try {
      call(module, x_);
    } catch (const Error& error) {
      return {error.exit(), error.what()};
    }
    return {Exit::done, ""};
  };
  EXPECT_EQ(error_of(0).first, Exit::data);
  EXPECT_EQ(error_of(0).second, "[layers.0] bad 3");
  EXPECT_THAT(error_of(1).second, HasSubstr("wrong number of outputs: gives 0, asked for 1"));
  EXPECT_THAT(error_of(2).second, HasSubstr("shape '[7]' is invalid"));
  EXPECT_EQ(error_of(2).second.find("frame #"), std::string::npos) << "no backtrace of libtorch";
}

TEST_F(Interceptor, APatternWithoutModulesIsRefused) {
  EXPECT_THROW(attach(tree_, "layer.*", [](Frame& f, Next next, Inputs in) { return next(f, in); }),
               sdk::InternalError);
}

TEST_F(Interceptor, HooksRunInBackwardAndCarryTheKindOfAnError) {
  at::Tensor x = x_.clone().requires_grad_(true);
  int calls = 0;
  const at::Tensor y = x * 2, z = x * 2;
  on_gradient(y, [&calls] { ++calls; });
  y.sum().backward();
  EXPECT_EQ(calls, 1);
  on_gradient(z, [] { throw sdk::CodedError<TITAN_ERROR_UNAVAILABLE>("rank 1 is gone"); });
  try {
    z.sum().backward();
    FAIL() << "the hook's error was lost";
  } catch (const c10::DistError& error) {
    EXPECT_THAT(error.what_without_backtrace(), HasSubstr("rank 1 is gone"));
  }
}

}  // namespace
}  // namespace titan::strategy
