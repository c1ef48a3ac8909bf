#include "core/train/torch_warnings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/train/recorder.hpp"

namespace titan::train {
namespace {

TEST(TorchWarnings, GoToTheLogForTheScope) {
  const tiny::LogLines log;
  {
    const TorchWarningsToLog scope;
    TORCH_WARN("something odd\nframe #0: 0x123");
  }
  EXPECT_THAT(log.lines(), testing::ElementsAre("warning [libtorch] something odd"));
}

}  // namespace
}  // namespace titan::train
