#include "titan/sdk/schedule.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/sdk/fake_host.hpp"

namespace titan::sdk {
namespace {

/// A forward on each rank; refuses more than two.
class Relay {
 public:
  explicit Relay(Host) {}
  std::string_view schedule_name() { return "relay"; }
  std::vector<titan_stage> stages(const titan_schedule_request& request, std::uint32_t rank) {
    if (request.num_ranks > 2) throw ConfigError("too many ranks: ", request.num_ranks);
    return {{rank, rank, 1, 0}};
  }
  std::vector<titan_action> actions(const titan_schedule_request& request, std::uint32_t rank) {
    std::vector<titan_action> made;
    for (std::uint32_t i = 0; i < request.num_micro_batches; ++i) made.push_back({TITAN_ACTION_FORWARD, rank, i, 0});
    return made;
  }
};

template <class Item>
titan_error* collect(void* sink, const Item* item) {
  static_cast<std::vector<Item>*>(sink)->push_back(*item);
  return nullptr;
}

class SdkSchedule : public ::testing::Test {
 protected:
  const titan_schedule_v1& table() const {
    return *static_cast<const titan_schedule_v1*>(ScheduleInterface<Relay>::table());
  }
  test::FakeHost host_;
  Instance<Relay> instance_{Host(host_.table())};
  titan_schedule_request request_{sizeof(titan_schedule_request), 2, nullptr, 0, 3, 0};
};

TEST_F(SdkSchedule, EmitsWhatTheClassGives) {
  std::vector<titan_stage> stages;
  std::vector<titan_action> actions;
  EXPECT_EQ(view(table().name(&instance_)), "relay");
  EXPECT_EQ(table().stages(&instance_, &request_, 1, &stages, &collect<titan_stage>), nullptr);
  EXPECT_EQ(table().actions(&instance_, &request_, 1, &actions, &collect<titan_action>), nullptr);
  ASSERT_EQ(stages.size(), 1U);
  EXPECT_EQ(stages[0].first, 1U);
  ASSERT_EQ(actions.size(), 3U);
  EXPECT_EQ(actions[2].micro_batch, 2U);
}

TEST_F(SdkSchedule, WhatIsThrownBecomesAnError) {
  request_.num_ranks = 3;
  std::vector<titan_stage> stages;
  EXPECT_EQ(host_.take(table().stages(&instance_, &request_, 0, &stages, &collect<titan_stage>)),
            "78: too many ranks: 3");
  EXPECT_EQ(host_.live_errors(), 0);
}

TEST_F(SdkSchedule, AnErrorOfTheSinkIsReturned) {
  std::vector<titan_action> actions;
  const auto refuse = [](void* sink, const titan_action*) -> titan_error* {
    const auto* host = static_cast<const titan_host*>(sink);
    return host->error_new(host, TITAN_ERROR_RESOURCE, borrow("full"));
  };
  titan_error* error = table().actions(&instance_, &request_, 0, const_cast<titan_host*>(host_.table()), refuse);
  EXPECT_EQ(host_.take(error), "71: full");
  EXPECT_EQ(host_.live_errors(), 0);
}

}  // namespace
}  // namespace titan::sdk
