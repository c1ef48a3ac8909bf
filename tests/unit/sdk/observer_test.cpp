#include "titan/sdk/observer.hpp"

#include <gtest/gtest.h>

#include "tests/unit/sdk/fake_host.hpp"

namespace titan::sdk {
namespace {

class Watch {
 public:
  static constexpr Identity kIdentity{.id = "org.test.watch", .name = "watch", .version = "1.0.0", .license = "MIT"};
  static void describe(Describe&) {}
  explicit Watch(Host host) : host_(host) {}
  void step_end(const titan_step_event& event) { host_.info("watch", concat("step ", event.step)); }
  void run_end(const titan_run_end_event&) { throw std::runtime_error("no more room"); }

 private:
  Host host_;
};

class SdkObserver : public ::testing::Test {
 protected:
  SdkObserver() { info_.init(host_.table(), &ctx_); }
  ~SdkObserver() override { info_.shutdown(ctx_); }

  test::FakeHost host_;
  const titan_plugin_info& info_ = *Entry<Watch, ObserverInterface>::info();
  void* ctx_ = nullptr;
  const titan_observer_v1& table_ = *static_cast<const titan_observer_v1*>(ObserverInterface<Watch>::table());
};

TEST_F(SdkObserver, SubscribesToWhatTheClassDefines) {
  EXPECT_EQ(info_.get_interface(ctx_, borrow(TITAN_OBSERVER_V1)), &table_);
  EXPECT_EQ(table_.events, std::uint32_t{TITAN_EVENT_STEP_END | TITAN_EVENT_RUN_END});
  EXPECT_EQ(table_.run_begin, nullptr);
  EXPECT_EQ(table_.validation, nullptr);
  EXPECT_EQ(table_.collective, nullptr);
}

/// Watches collectives alone.
class Listener {
 public:
  explicit Listener(Host host) : host_(host) {}
  void collective(const titan_collective_event& event) {
    if (event.state == TITAN_COLLECTIVE_FAILED) throw InternalError("[listener] failed: ", view(event.op));
    host_.info("listener", concat(view(event.group), " ", view(event.op), " ", event.sequence));
  }

 private:
  Host host_;
};

TEST_F(SdkObserver, CollectivesAreEvents) {
  const auto& table = *static_cast<const titan_observer_v1*>(ObserverInterface<Listener>::table());
  EXPECT_EQ(table.struct_size, sizeof(titan_observer_v1));
  EXPECT_EQ(table.events, std::uint32_t{TITAN_EVENT_COLLECTIVE});
  Instance<Listener> listener{Host(host_.table())};
  titan_collective_event event{};
  event.struct_size = sizeof event;
  event.state = TITAN_COLLECTIVE_COMPLETED;
  event.op = borrow("all_reduce");
  event.group = borrow("world");
  event.sequence = 3;
  EXPECT_EQ(host_.take(table.collective(&listener, &event)), "");
  EXPECT_EQ(host_.log().back(), "1 [listener] world all_reduce 3");
  event.state = TITAN_COLLECTIVE_FAILED;
  EXPECT_EQ(host_.take(table.collective(&listener, &event)), "70: [listener] failed: all_reduce");
}

TEST_F(SdkObserver, DeliversEvents) {
  titan_step_event event{};
  event.struct_size = sizeof event;
  event.step = 12;
  EXPECT_EQ(host_.take(table_.step_end(ctx_, &event)), "");
  EXPECT_EQ(host_.log().back(), "1 [watch] step 12");
}

TEST_F(SdkObserver, AnExceptionIsAnError) {
  const titan_run_end_event event{};
  EXPECT_EQ(host_.take(table_.run_end(ctx_, &event)), "70: no more room");
}

}  // namespace
}  // namespace titan::sdk
