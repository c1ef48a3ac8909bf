#include "core/comm/witness.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace titan::comm {
namespace {

TEST(WitnessStand, WithoutAWitnessNobodySaysAnything) {
  WitnessStand stand;
  EXPECT_EQ(stand.place(), "");
  stand.report(1, "late");
}

TEST(WitnessStand, TheFirstCauseStays) {
  WitnessStand stand;
  std::vector<std::int32_t> causes;
  stand.set({{}, [&](std::int32_t cause, std::string_view) { causes.push_back(cause); }});
  stand.report(1, "late");
  stand.report(2, "and so it fails");
  EXPECT_EQ(causes, (std::vector<std::int32_t>{1, 1}));
}

TEST(WitnessStand, AWitnessThatThrowsDoesNoHarm) {
  WitnessStand stand;
  stand.set({{}, [](std::int32_t, std::string_view) { throw std::runtime_error("disk full"); }});
  stand.report(1, "late");
}

TEST(WitnessStand, SaysWhereTheRankIsWhileItWritesThingsDown) {
  WitnessStand stand;
  std::atomic<bool> writes{false}, may_end{false};
  stand.set({[] { return "step 3"; },
             [&](std::int32_t, std::string_view) {
               writes = true;
               while (!may_end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
             }});
  std::thread writer([&] { stand.report(1, "late"); });
  while (!writes) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(stand.place(), "step 3");
  may_end = true;
  stand.set({});  // waits for what is under way
  writer.join();
  EXPECT_EQ(stand.place(), "");
}

}  // namespace
}  // namespace titan::comm
