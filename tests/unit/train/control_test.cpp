#include "core/train/control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <thread>

#include "core/base/error.hpp"
#include "core/train/guards.hpp"
#include "tests/unit/train/recorder.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

int& asked_signal() {
  static int instance = 0;
  return instance;
}

class ControlTest : public ::testing::Test {
 protected:
  ControlTest() {
    run_.request_stop = [](int signal) { asked_signal() = signal; };
    asked_signal() = 0;
  }

  EngineRun run_;
  Position position_;
  Observers observers_{tiny::error_host(), {}};
  std::unique_ptr<nn::Tree> tree_ = tiny::tiny_tree();
};

TEST_F(ControlTest, VisitsWhatARankKeeps) {
  Control control(run_, position_, observers_, *tree_);
  std::map<std::string, std::int32_t> seen;
  const auto note = [&seen](std::int32_t kind, const std::string& name, const at::Tensor&) { seen[name] = kind; };
  control.visit_state(note);
  EXPECT_THAT(seen, UnorderedElementsAre(Pair("tok_embeddings.weight", TITAN_STATE_PARAMETER),
                                         Pair("output.weight", TITAN_STATE_PARAMETER)));
  const optim::AdamOptimizer optimizer = tiny::tiny_optimizer(*tree_);
  control.set_optimizer(&optimizer);
  control.visit_state(note);
  EXPECT_EQ(seen.size(), 8U);
  EXPECT_EQ(seen.at("output.weight.exp_avg"), TITAN_STATE_OPTIMIZER);
  EXPECT_EQ(seen.at("tok_embeddings.weight.step"), TITAN_STATE_OPTIMIZER);
}

TEST_F(ControlTest, IsItsThreadsRun) {
  EXPECT_EQ(Control::current(), nullptr);
  {
    const Control control(run_, position_, observers_, *tree_);
    EXPECT_EQ(Control::current(), &control);
    std::thread([] { EXPECT_EQ(Control::current(), nullptr); }).join();
  }
  EXPECT_EQ(Control::current(), nullptr);
}

TEST_F(ControlTest, AsksForAStopAsCtrlCDoes) {
  const Control control(run_, position_, observers_, *tree_);
  control.stop();
  EXPECT_EQ(asked_signal(), SIGINT);
}

TEST_F(ControlTest, BreakpointsGoToTheGuardsOfTheirRank) {
  std::vector<std::string> labels;
  titan_guard_v1 guard{};
  guard.struct_size = sizeof guard;
  guard.duties = [](void*) -> std::uint32_t { return TITAN_DUTY_BREAKPOINT; };
  guard.breakpoint = [](void* ctx, titan_string label, const titan_string*, const titan_tensor*,
                        std::uint32_t) -> titan_error* {
    static_cast<std::vector<std::string>*>(ctx)->emplace_back(label.data, label.size);
    return nullptr;
  };
  Guards guards(tiny::error_host(), {{"prompt", &labels, &guard}});
  const titan_control_v1& table = *control_interface();
  const auto break_at = [&table](std::uint32_t rank, std::string_view label) {
    return table.breakpoint(rank, {label.data(), label.size()}, nullptr, nullptr, 0);
  };
  EXPECT_EQ(break_at(0, "nobody runs"), nullptr);
  Control control(run_, position_, observers_, *tree_);
  EXPECT_EQ(break_at(0, "no guards yet"), nullptr);
  control.set_guards(&guards);
  EXPECT_EQ(break_at(1, "another rank's"), nullptr);
  EXPECT_EQ(break_at(0, "mine"), nullptr);
  EXPECT_THAT(labels, ElementsAre("mine"));
}

TEST_F(ControlTest, AGuardNeedsWhatItsDutiesCall) {
  titan_guard_v1 guard{};
  guard.struct_size = sizeof guard;
  EXPECT_THROW(Guards(tiny::error_host(), {{"mute", nullptr, &guard}}), PluginError);
  guard.duties = [](void*) -> std::uint32_t { return TITAN_DUTY_STEP; };
  EXPECT_THROW(Guards(tiny::error_host(), {{"idle", nullptr, &guard}}), PluginError);
  guard.step_begin = [](void*, std::int64_t) -> titan_error* { return nullptr; };
  EXPECT_NO_THROW(Guards(tiny::error_host(), {{"sound", nullptr, &guard}}));
}

TEST_F(ControlTest, PlacesFillWhatTheCallerKnows) {
  Control control(run_, position_, observers_, *tree_);
  position_.step = 7;
  titan_place place{};
  place.struct_size = offsetof(titan_place, micro_batch);
  place.micro_batch = 42;
  control_interface()->place(reinterpret_cast<titan_control*>(&control), &place);
  EXPECT_EQ(place.step, 7);
  EXPECT_EQ(place.micro_batch, 42);
  EXPECT_EQ(place.struct_size, offsetof(titan_place, micro_batch));
}

TEST_F(ControlTest, HoldsAreAPhaseAndNoTimeOfAStep) {
  Control control(run_, position_, observers_, *tree_);
  control.hold();
  control.hold();
  control.release();
  EXPECT_EQ(position_.phase, TITAN_IN_START) << "not this thread's position";
  control.release();
  const PositionScope scope(&position_);
  control.hold();
  EXPECT_EQ(position_.phase, TITAN_IN_HOLD);
  control.release();
  EXPECT_EQ(position_.phase, TITAN_IN_START);
  EXPECT_GT(position_.held_seconds, 0);
}

}  // namespace
}  // namespace titan::train
