#include "plugins/observability/toolbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/sdk/fake_host.hpp"

namespace titan::observability {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string>& seen() {
  static std::vector<std::string> instance;
  return instance;
}

/// Notes what it is asked, fails at step 2, and runs a pass twice.
class Noting : public Tool {
 public:
  Noting(std::string name, std::uint32_t events, std::uint32_t duties, Judgement judgement)
      : name_(std::move(name)), events_(events), duties_(duties), judgement_(std::move(judgement)) {}
  std::uint32_t events() const override { return events_; }
  std::uint32_t duties() const override { return duties_; }
  void step_end(const titan_step_event& event) override {
    if (event.step == 2 && name_ == "first") throw std::runtime_error("the disk is full");
    seen().push_back(sdk::concat(name_, " step ", event.step));
  }
  void around(const titan_pass& pass) override {
    double loss = 0;
    for (int run = 0; run < 2; ++run) {
      if (pass.run(&pass, &loss) != nullptr) throw std::runtime_error("the pass failed");
      seen().push_back(sdk::concat(name_, " ran ", loss));
      if (run == 0) pass.rewind(&pass);
    }
  }
  Judgement judge(const titan_outcome&) override { return judgement_; }
  void left_out(std::int64_t step, std::string_view why) override {
    seen().push_back(sdk::concat(name_, " hears that step ", step, " is left out: ", why));
  }

 private:
  std::string name_;
  std::uint32_t events_, duties_;
  Judgement judgement_;
};

ToolPointer make_first(sdk::Host) {
  return std::make_unique<Noting>("first", TITAN_EVENT_STEP_END, TITAN_DUTY_AROUND | TITAN_DUTY_JUDGE,
                                  Judgement{TITAN_DECISION_SKIP, 0, "a spike"});
}
ToolPointer make_none(sdk::Host) { return nullptr; }
ToolPointer make_second(sdk::Host) {
  return std::make_unique<Noting>("second", TITAN_EVENT_STEP_END, TITAN_DUTY_AROUND | TITAN_DUTY_RERUN,
                                  Judgement{TITAN_DECISION_STOP, TITAN_ERROR_NON_FINITE, "a NaN"});
}
constexpr ToolEntry kEntries[] = {{nullptr, &make_first}, {nullptr, &make_none}, {nullptr, &make_second}};

class ToolboxTest : public ::testing::Test {
 protected:
  ToolboxTest() { seen().clear(); }

  test::FakeHost host_;
  Toolbox toolbox_{sdk::Host(host_.table()), kEntries};
};

TEST_F(ToolboxTest, WantsWhatItsToolsWant) {
  EXPECT_EQ(toolbox_.events(), std::uint32_t{TITAN_EVENT_STEP_END});
  EXPECT_EQ(toolbox_.duties(), std::uint32_t{TITAN_DUTY_AROUND | TITAN_DUTY_JUDGE | TITAN_DUTY_RERUN});
}

TEST_F(ToolboxTest, AToolThatFailsIsTakenOutAndTheOthersGoOn) {
  for (std::int64_t number = 1; number <= 3; ++number) {
    titan_step_event event{};
    event.step = number;
    toolbox_.step_end(event);
  }
  EXPECT_THAT(seen(), ElementsAre("first step 1", "second step 1", "second step 2", "second step 3"));
  EXPECT_THAT(host_.log(), ElementsAre(HasSubstr("the disk is full")));
}

TEST_F(ToolboxTest, PassesRunInsideEachOther) {
  int runs = 0;
  titan_pass pass{};
  pass.struct_size = sizeof pass;
  pass.impl = &runs;
  pass.run = [](const titan_pass* own, double* loss) -> titan_error* {
    *loss = ++*static_cast<int*>(own->impl);
    return nullptr;
  };
  pass.rewind = [](const titan_pass*) -> titan_error* {
    seen().emplace_back("rewind");
    return nullptr;
  };
  toolbox_.around(pass);
  EXPECT_THAT(seen(), ElementsAre("second ran 1", "rewind", "second ran 2", "first ran 2", "rewind", "second ran 3",
                                  "rewind", "second ran 4", "first ran 4"));
}

TEST_F(ToolboxTest, TheGravestJudgementCounts) {
  titan_outcome outcome{};
  outcome.is_finite = 1;
  outcome.step = 7;
  titan_judgement judgement{};
  toolbox_.judge(outcome, judgement);
  EXPECT_THAT(seen(), ElementsAre("first hears that step 7 is left out: a spike",
                                  "second hears that step 7 is left out: a spike"));
  EXPECT_EQ(judgement.decision, TITAN_DECISION_SKIP);
  EXPECT_EQ(sdk::view(judgement.text), "a spike");
  outcome.is_finite = 0;
  toolbox_.judge(outcome, judgement);
  EXPECT_EQ(seen().size(), 2U) << "a stop is none";
  EXPECT_EQ(judgement.decision, TITAN_DECISION_STOP);
  EXPECT_EQ(judgement.code, TITAN_ERROR_NON_FINITE);
  EXPECT_EQ(sdk::view(judgement.text), "a NaN");
}

}  // namespace
}  // namespace titan::observability
