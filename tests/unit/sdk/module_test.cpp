#include "titan/sdk/module.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sdk/fake_tree.hpp"
#include "titan/sdk/scope.hpp"

namespace titan::sdk {
namespace {

using test::FakeTree;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

int alive = 0;

/// Doubles and passes its input on: two outputs.
class Fork : public Module {
 public:
  explicit Fork(Scope&) { ++alive; }
  ~Fork() { --alive; }
  std::array<Tensor, 2> forward(Frame&, const Tensor& x) const { return {x + x, x}; }
};

class Branches : public Module {
 public:
  explicit Branches(Scope& s) : fork_(s.child<Fork>("fork")) {}
  Tensor forward(Frame& f, const Tensor& x, Tensor y) const {
    const auto [twice, once] = f(fork_, x);
    return twice + once * y;
  }

 private:
  Callable<2> fork_;
};

class Refusing : public Module {
 public:
  explicit Refusing(Scope& s) {
    s.child<Fork>("fork");
    throw ConfigError("[test] refused");
  }
  Tensor forward(Frame&, const Tensor& x) const { return x; }
};

class Throwing : public Module {
 public:
  explicit Throwing(Scope&) {}
  Tensor forward(Frame&, const Tensor&) const { throw std::runtime_error("in forward"); }
};

class SdkModule : public ::testing::Test {
 protected:
  ~SdkModule() override {
    tree_.reset();
    EXPECT_EQ(FakeTree::live_tensors(), 0);
    EXPECT_EQ(alive, 0);
    EXPECT_EQ(host_.live_errors(), 0);
  }

  test::FakeHost host_;
  std::unique_ptr<FakeTree> tree_ = std::make_unique<FakeTree>(host_);
  Scope root_{std::make_shared<const ModuleApi>(Host(host_.table())), tree_->handle(), TITAN_MODULE_ROOT};
};

TEST_F(SdkModule, CallsGoThroughTheHost) {
  root_.child<Branches>("block");
  EXPECT_EQ(tree_->module("block.fork").kind, "custom");
  const titan_tensor in = FakeTree::make({3});
  std::vector<titan_tensor> out(1);
  EXPECT_EQ(host_.take(tree_->call(tree_->id("block"), {in, in}, out)), "");
  EXPECT_THAT(tree_->calls(), ElementsAre("aten::add.Tensor", "aten::mul.Tensor", "aten::add.Tensor"));
  EXPECT_THAT(FakeTree::sizes(out[0]), ElementsAre(3));
  FakeTree::release(out[0]);
  FakeTree::release(in);
}

TEST_F(SdkModule, RefusesOtherCountsThanForwardHas) {
  root_.child<Branches>("block");
  const titan_tensor in = FakeTree::make({3});
  std::vector<titan_tensor> out(1);
  EXPECT_THAT(host_.take(tree_->call(tree_->id("block"), {in}, out)), HasSubstr("inputs 1 of 2"));
  out.resize(2);
  EXPECT_THAT(host_.take(tree_->call(tree_->id("block"), {in, in}, out)), HasSubstr("outputs 2 of 1"));
  FakeTree::release(in);
}

TEST_F(SdkModule, AnExceptionInForwardIsAnError) {
  root_.child<Throwing>("bad");
  const titan_tensor in = FakeTree::make({3});
  std::vector<titan_tensor> out(1);
  EXPECT_EQ(host_.take(tree_->call(tree_->id("bad"), {in}, out)), "70: in forward");
  FakeTree::release(in);
}

TEST_F(SdkModule, AnErrorInsideLeaksNothing) {
  root_.child<Branches>("block");
  for (int call = 1; call <= 5; ++call) {
    const titan_tensor in = FakeTree::make({3});
    std::vector<titan_tensor> out(1);
    tree_->fail_after(call);
    EXPECT_THAT(host_.take(tree_->call(tree_->id("block"), {in, in}, out)), HasSubstr("74: refused")) << call;
    FakeTree::release(in);
    EXPECT_EQ(FakeTree::live_tensors(), 0) << call;
  }
}

TEST_F(SdkModule, AModuleThatRefusesLeavesATreeThatCanBeFreed) {
  EXPECT_THROW(root_.child<Refusing>("bad"), ConfigError);
  EXPECT_EQ(alive, 1);  // its child lives with the tree
}

TEST_F(SdkModule, AnErrorWhileBuildingFreesTheModule) {
  tree_->fail_after(1);
  EXPECT_THROW(root_.child<Fork>("fork"), HostError);
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace titan::sdk
