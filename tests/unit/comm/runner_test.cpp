#include "core/comm/processes/runner.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <vector>

namespace titan::comm {
namespace {

TEST(Runner, RunsInOrderAndFinishesWhatItWasGiven) {
  std::vector<int> order;
  {
    Runner runner;
    for (int i = 0; i < 100; ++i) runner.submit([&order, i] { order.push_back(i); });
  }
  ASSERT_EQ(order.size(), 100u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(Runner, ThatWasAbandonedHoldsNobodyUp) {
  const auto stuck = std::make_shared<std::promise<void>>();
  const auto begun = std::make_shared<std::promise<void>>();
  const auto ran = std::make_shared<bool>(false);
  {
    Runner runner;
    runner.submit([stuck, begun] {
      begun->set_value();
      stuck->get_future().wait();
    });
    runner.submit([ran] { *ran = true; });
    begun->get_future().wait();
    runner.abandon();
    runner.submit([ran] { *ran = true; });
  }
  stuck->set_value();
  EXPECT_FALSE(*ran);
}

}  // namespace
}  // namespace titan::comm
