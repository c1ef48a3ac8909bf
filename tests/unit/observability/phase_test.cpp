#include "plugins/observability/phase.hpp"

#include <gtest/gtest.h>

#include "core/base/position.hpp"
#include "titan/abi/place.h"

namespace titan::observability {
namespace {

TEST(Phase, IsCalledWhatTheHostCallsIt) {
  for (std::int32_t phase = TITAN_IN_START - 1; phase <= TITAN_IN_END + 1; ++phase) {
    EXPECT_EQ(phase_name(phase), titan::phase_name(phase)) << phase;
  }
}

}  // namespace
}  // namespace titan::observability
