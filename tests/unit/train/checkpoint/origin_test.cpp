#include "core/train/checkpoint/origin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace titan::train {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Saved = std::map<std::string, std::string>;

TEST(Differences, NameOptionsThatDecideTrainingWithBothValues) {
  const Saved before{{"optimizer.lr", "0.1"}, {"model.dim", "64"}, {"comm.train_timeout_seconds", "5"}};
  const Saved now{{"optimizer.lr", "0.2"}, {"model.dim", "64"}, {"comm.train_timeout_seconds", "9"}};
  EXPECT_THAT(differences(before, now), ElementsAre("optimizer.lr 0.1 -> 0.2"));
}

TEST(Differences, AnotherLayoutIsNone) {
  EXPECT_THAT(differences({{"parallelism.tensor_parallel_degree", "1"}}, {{"parallelism.tensor_parallel_degree", "2"}}),
              IsEmpty());
}

TEST(Differences, MoreStepsAreOneWhereTheyEndTheSchedule) {
  const Saved before{{"training.steps", "10"}, {"lr_scheduler.total_steps", "None"}};
  Saved now{{"training.steps", "20"}, {"lr_scheduler.total_steps", "None"}};
  EXPECT_THAT(differences(before, now), ElementsAre("training.steps 10 -> 20"));
  now["lr_scheduler.total_steps"] = "10";
  EXPECT_THAT(differences(before, now), ElementsAre("lr_scheduler.total_steps None -> 10"));
}

TEST(Differences, AnOptionThatTheSavedRunHadNotIsNone) {
  EXPECT_THAT(differences({}, {{"model.qk_norm", "true"}}), IsEmpty());
}

}  // namespace
}  // namespace titan::train
