#include "core/comm/witness.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
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
  EXPECT_EQ(stand.cause(), 0);
  stand.report(1, "late");
  stand.report(2, "and so it fails");
  EXPECT_EQ(stand.cause(), 1);
  EXPECT_EQ(causes, (std::vector<std::int32_t>{1, 1}));
}

TEST(WitnessStand, WhatIsTroubleForAnotherRanksSakeHasItsCause) {
  WitnessStand stand;
  std::vector<std::int32_t> causes;
  stand.set({{}, [&](std::int32_t cause, std::string_view) { causes.push_back(cause); }});
  stand.claim(5);
  stand.claim(1);
  EXPECT_TRUE(causes.empty()) << "nothing is told yet";
  stand.report(2, "a connection was lost");
  EXPECT_EQ(causes, (std::vector<std::int32_t>{5}));
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

/// A witness that hangs until it is let go.
struct HangingWitness {
  std::atomic<int> num_told{0};
  std::atomic<bool> may_end{false};

  Witness witness() {
    return {{}, [this](std::int32_t, std::string_view) {
              while (!may_end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
              ++num_told;
            }};
  }
};

TEST(WitnessStand, NobodyWaitsForAWitnessThatHangs) {
  WitnessStand stand(std::chrono::milliseconds(50));
  HangingWitness hanging;
  stand.set(hanging.witness());
  stand.report(1, "late");
  stand.report(2, "and so it fails");
  stand.set({});
  EXPECT_EQ(hanging.num_told, 0);
  hanging.may_end = true;
  while (hanging.num_told == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(WitnessStand, AWitnessThatIsSlowIsWaitedForOnceMoreBeforeItGoes) {
  WitnessStand stand(std::chrono::milliseconds(1000));
  HangingWitness slow;
  stand.set(slow.witness());
  stand.report(1, "late");
  EXPECT_EQ(slow.num_told, 0);
  slow.may_end = true;
  stand.set({});
  EXPECT_EQ(slow.num_told, 1);
}

TEST(WitnessStand, WhoPostsDoesNotWait) {
  WitnessStand stand(std::chrono::minutes(10));
  HangingWitness hanging;
  stand.set(hanging.witness());
  stand.post(1, "another rank is late");
  EXPECT_EQ(hanging.num_told, 0);
  hanging.may_end = true;
  stand.set({});
  EXPECT_EQ(hanging.num_told, 1) << "what was posted is told before the witness goes";
}

TEST(WitnessStand, AfterAnotherRanksFailureNothingIsWrittenOverWhatIsKnown) {
  WitnessStand stand;
  std::vector<std::string> reasons;
  stand.set({{}, [&](std::int32_t, std::string_view reason) { reasons.emplace_back(reason); }});
  stand.report_last(2, "rank 1 failed");
  stand.report(2, "a call failed");
  stand.post(1, "late");
  stand.set({});
  EXPECT_EQ(reasons, std::vector<std::string>{"rank 1 failed"});
}

TEST(WitnessStand, ACauseThatWasTakenBackIsNotThatOfWhatComesLater) {
  WitnessStand stand;
  std::vector<std::int32_t> causes;
  stand.set({{}, [&](std::int32_t cause, std::string_view) { causes.push_back(cause); }});
  stand.report(1, "late");
  stand.recover();
  stand.report(2, "row 7 is broken");
  EXPECT_EQ(causes, (std::vector<std::int32_t>{1, 2}));
}

}  // namespace
}  // namespace titan::comm
