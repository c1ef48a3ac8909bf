#include "core/data/prefetcher.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "core/base/error.hpp"

namespace titan::data {
namespace {

std::optional<PreparedBatch> batch(std::int64_t number) {
  PreparedBatch made;
  made.batch.rows = number;
  return made;
}

TEST(Prefetcher, KeepsOrderAndEnd) {
  std::int64_t made = 0;
  Prefetcher prefetcher([&] { return made == 50 ? std::nullopt : batch(++made); }, 3, nullptr);
  for (std::int64_t i = 1; i <= 50; ++i) EXPECT_EQ(prefetcher.next()->batch.rows, i);
  EXPECT_FALSE(prefetcher.next());
  EXPECT_FALSE(prefetcher.next());
}

TEST(Prefetcher, MakesNoMoreThanItsCapacity) {
  std::atomic<std::int64_t> made = 0;
  Prefetcher prefetcher([&] { return batch(++made); }, 3, nullptr);
  EXPECT_EQ(prefetcher.next()->batch.rows, 1);
  while (made < 4) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(made, 4);
}

TEST(Prefetcher, ThrowsBehindTheBatchesMadeBefore) {
  std::int64_t made = 0;
  Prefetcher prefetcher(
      [&]() -> std::optional<PreparedBatch> {
        if (made == 2) throw DataError("broken");
        return batch(++made);
      },
      5, nullptr);
  EXPECT_EQ(prefetcher.next()->batch.rows, 1);
  EXPECT_EQ(prefetcher.next()->batch.rows, 2);
  EXPECT_THROW(prefetcher.next(), DataError);
  EXPECT_THROW(prefetcher.next(), DataError);
}

TEST(Prefetcher, StopsWaitingWhenAsked) {
  StopFlag stop;
  std::atomic<bool> release = false;
  Prefetcher prefetcher(
      [&]() -> std::optional<PreparedBatch> {
        while (!release) std::this_thread::yield();
        return std::nullopt;
      },
      1, &stop);
  stop.request(2);
  EXPECT_THROW(prefetcher.next(), Interrupted);
  release = true;
}

TEST(Prefetcher, EndsInEveryState) {
  for (int i = 0; i < 200; ++i) {
    std::int64_t made = 0;
    Prefetcher prefetcher([&] { return made == i % 5 ? std::nullopt : batch(++made); }, 1 + i % 3, nullptr);
    if (i % 2 == 0) prefetcher.next();
  }
}

}  // namespace
}  // namespace titan::data
