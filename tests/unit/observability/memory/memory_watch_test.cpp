#include "plugins/observability/memory/memory_watch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "tests/unit/sdk/fake_host.hpp"

namespace titan::observability {
namespace {

/// The listener for shortages of the watch that lives.
const titan_memory_listener* listener = nullptr;

const titan_memory_v1 kMemory{sizeof(titan_memory_v1),
                              [](const titan_memory_listener* added) -> titan_error* {
                                listener = added;
                                return nullptr;
                              },
                              [](const titan_memory_listener*) {}, [](titan_memory_counters*) {},
                              [](titan_place* place) { place->phase = -1; }};

void tell_of_shortage(std::uint64_t bytes) {
  const titan_memory_event event{TITAN_MEMORY_OUT_OF_MEMORY, 0, 0, bytes, 0};
  listener->event(listener->ctx, &event);
}

/// Keeps the reports it is to make; each lasts until it may end.
class Reporter : public MemoryWatch::Member {
 public:
  void out_of_memory(const ShortageEvent& event) noexcept override {
    reports.push_back(event.report);
    begun.set_value();
    may_end.get_future().wait();
    has_ended = true;
  }
  titan_place place() const noexcept override { return {}; }

  std::vector<std::uint32_t> reports;
  std::promise<void> begun, may_end;
  std::atomic<bool> has_ended{false};
};

class MemoryWatchTest : public testing::Test {
 protected:
  MemoryWatchTest() { host_.offer(TITAN_MEMORY_V1, &kMemory); }
  std::shared_ptr<MemoryWatch> join(MemoryWatch::Member& member) const {
    return MemoryWatch::join(sdk::Host(host_.table()), member, std::nullopt);
  }

  test::FakeHost host_;
};

TEST_F(MemoryWatchTest, AMemberThatMakesAReportLeavesAfterIt) {
  Reporter reporter;
  const std::shared_ptr<MemoryWatch> watch = join(reporter);
  std::thread another([] { tell_of_shortage(100); });
  reporter.begun.get_future().wait();
  bool had_ended = false;
  std::thread leaving([&] {
    watch->leave(reporter);
    had_ended = reporter.has_ended;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  reporter.may_end.set_value();
  leaving.join();
  another.join();
  EXPECT_TRUE(had_ended);
}

TEST_F(MemoryWatchTest, AFalseAlarmDoesNotUseTheReportUp) {
  Reporter reporter;
  const std::shared_ptr<MemoryWatch> watch = join(reporter);
  for (const std::uint64_t asked : {0, 0, 4096}) {
    reporter.begun = std::promise<void>();
    reporter.may_end = std::promise<void>();
    reporter.may_end.set_value();
    tell_of_shortage(asked);
  }
  EXPECT_EQ(reporter.reports, (std::vector<std::uint32_t>{1, 2}));
  watch->leave(reporter);
}

}  // namespace
}  // namespace titan::observability
