#include "plugins/observability/memory/event_ring.hpp"

#include <gtest/gtest.h>

#include "titan/abi/memory.h"

namespace titan::observability {
namespace {

RecordedEvent event(std::int64_t time, std::int32_t action = TITAN_MEMORY_ALLOC) {
  return {.time_us = time, .address = 0, .bytes = 0, .place = 0, .step = 0, .stack = 0, .action = action};
}

TEST(EventRing, KeepsTheNewestInOrder) {
  EventRing ring(3);
  EXPECT_EQ(ring.size(), 0U);
  for (std::int64_t time = 1; time <= 2; ++time) ring.push(event(time));
  ASSERT_EQ(ring.size(), 2U);
  EXPECT_EQ(ring[0].time_us, 1);
  for (std::int64_t time = 3; time <= 8; ++time) ring.push(event(time));
  ASSERT_EQ(ring.size(), 3U);
  EXPECT_EQ(ring[0].time_us, 6);
  EXPECT_EQ(ring[2].time_us, 8);
}

TEST(EventRing, CountsWhatItForgetsInEntriesOfTheFile) {
  EventRing ring(1);
  ring.push(event(1, TITAN_MEMORY_FREE));
  EXPECT_EQ(ring.forgotten_entries(), 0U);
  ring.push(event(2));
  EXPECT_EQ(ring.forgotten_entries(), 2U) << "a free is asked for and done";
  ring.push(event(3));
  EXPECT_EQ(ring.forgotten_entries(), 3U);
}

}  // namespace
}  // namespace titan::observability
