#include "core/base/position.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "core/base/text.hpp"

namespace titan {
namespace {

using ::testing::ElementsAre;

TEST(Position, IsToldInWords) {
  Position position;
  EXPECT_EQ(position.describe(), "start");
  position.name_modules({"", "layers.0", "layers.0.attention"});
  position.step = 3;
  position.micro_batch = 1;
  position.phase = TITAN_IN_BACKWARD;
  position.module = 2;
  EXPECT_EQ(position.describe(), "step 3, micro-batch 1, backward, in layers.0.attention");
  position.phase = TITAN_IN_STEP;
  position.micro_batch = -1;
  position.module = 0;
  EXPECT_EQ(position.describe(), "step 3");
}

TEST(Position, ModulesWithoutANameHaveNone) {
  Position position;
  position.module = 7;
  EXPECT_EQ(position.place().module_name.size, 0U);
  position.name_modules({"", "a"});
  EXPECT_EQ(position.module_name(7), "");
  EXPECT_EQ(position.module_name(1), "a");
}

TEST(Position, PhasesNestAndAreTold) {
  Position position;
  std::vector<std::string> told;
  position.on_span = [&told](const titan_span_event& event) {
    const std::string detail(event.detail.data == nullptr ? "" : event.detail.data, event.detail.size);
    told.push_back(
        concat(event.is_end != 0 ? "end " : "begin ", phase_name(event.phase), ' ', event.micro_batch, ' ', detail));
  };
  const PositionScope scope(&position);
  try {
    const PhaseScope step(TITAN_IN_STEP);
    PhaseScope forward(TITAN_IN_FORWARD, 2, 1);
    EXPECT_EQ(position.phase, TITAN_IN_FORWARD);
    EXPECT_EQ(position.stage, 1U);
    forward.set_detail("of three");
    throw std::runtime_error("whatever ends it");
  } catch (const std::runtime_error&) {
  }
  EXPECT_THAT(told, ElementsAre("begin step -1 ", "begin forward 2 ", "end forward 2 of three", "end step -1 "));
  EXPECT_EQ(position.phase, TITAN_IN_START);
  EXPECT_EQ(position.micro_batch, -1);
}

TEST(Position, DescribesWhereAnExceptionCameFrom) {
  Position position;
  const PositionScope scope(&position);
  try {
    const PhaseScope outer(TITAN_IN_STEP);
    const PhaseScope inner(TITAN_IN_FORWARD, 2);
    throw std::runtime_error("failed");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(position.describe(), "micro-batch 2, forward");
  }
  EXPECT_EQ(position.phase, TITAN_IN_START);
  const PhaseScope next(TITAN_IN_SAVE);
  EXPECT_EQ(position.describe(), "save") << "what was caught is forgotten";
}

TEST(Position, BelongsToItsThread) {
  Position position;
  const PositionScope scope(&position);
  EXPECT_EQ(current_position(), &position);
  std::thread([] {
    EXPECT_EQ(current_position(), nullptr);
    const PhaseScope nobodys(TITAN_IN_SAVE);
  }).join();
  EXPECT_EQ(position.phase, TITAN_IN_START);
}

TEST(Position, EveryPhaseHasAName) {
  for (std::int32_t phase = TITAN_IN_START; phase <= TITAN_IN_END; ++phase) EXPECT_NE(phase_name(phase), "nowhere");
  EXPECT_EQ(phase_name(-1), "nowhere");
  EXPECT_EQ(phase_name(TITAN_IN_END + 1), "nowhere");
}

}  // namespace
}  // namespace titan
