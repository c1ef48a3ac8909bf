#include "core/comm/cuda/device_backend.hpp"

#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/base/error.hpp"
#include "core/comm/timed_work.hpp"

namespace titan::comm {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

/// A device that does a work when the test says so.
class Device : public ProcessBackend {
 public:
  Device() : ProcessBackend(0, 1) {}
  const std::string getBackendName() const override { return "device"; }
  void close() noexcept override {}
  void abort() override {
    for (const auto& work : works) work->fail("aborted");
  }
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>&, const c10d::AllreduceOptions&) override {
    works.push_back(c10::make_intrusive<Asynchronous>());
    return works.back();
  }

  /// Waiting only orders a stream: it returns before the work is done.
  class Asynchronous : public TimedWork {
   public:
    bool wait(milliseconds) override {
      waited = true;
      return true;
    }
    std::exception_ptr exception() const override { return std::make_exception_ptr(PeerError(failure())); }
    std::atomic<bool> waited{false};
  };
  std::vector<c10::intrusive_ptr<Asynchronous>> works;
};

class DeviceWorks : public ::testing::Test {
 protected:
  DeviceWorks()
      : device_(c10::make_intrusive<Device>()),
        works_(std::make_shared<PendingWorks>(0)),
        backend_(make_device_backend(device_, c10::make_intrusive<Device>(), works_)) {}

  c10::intrusive_ptr<TimedWork> start(std::int64_t timeout_ms) {
    WorkRecord record;
    record.op = "all_reduce";
    record.timeout_ms = timeout_ms;
    works_->announce(record);
    std::vector<at::Tensor> tensors{at::ones({2}, at::TensorOptions(at::kMeta))};
    return c10::static_intrusive_pointer_cast<TimedWork>(backend_->allreduce(tensors, c10d::AllreduceOptions()));
  }
  static bool ends(TimedWork& work) { return work.wait_until(TimedWork::Clock::now() + std::chrono::seconds(60)); }

  c10::intrusive_ptr<Device> device_;
  std::shared_ptr<PendingWorks> works_;
  c10::intrusive_ptr<ProcessBackend> backend_;
};

TEST_F(DeviceWorks, AreWaitedForByTheStreamAlone) {
  const auto work = start(60000);
  EXPECT_TRUE(work->join(TimedWork::Clock::now()));
  EXPECT_TRUE(device_->works[0]->waited);
  EXPECT_FALSE(work->isCompleted());
  device_->works[0]->complete();
  EXPECT_TRUE(ends(*work));
  EXPECT_EQ(work->failure(), "");
}

TEST_F(DeviceWorks, FailWithTheDevicesError) {
  const auto work = start(60000);
  device_->works[0]->fail("remote process exited");
  EXPECT_TRUE(ends(*work));
  EXPECT_THAT(work->failure(), HasSubstr("remote process exited"));
}

TEST_F(DeviceWorks, HaveMoreTimeWhileDeadlinesAreHeld) {
  std::atomic<int> told{0};
  works_->on_late([&](const WorkRecord&) {
    return ++told < 4 ? TimedWork::Clock::now() + milliseconds(20) : TimedWork::Clock::time_point();
  });
  const auto late = start(20);
  while (told < 4) std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(told, 4) << "then the run was given up";
  works_->on_late(nullptr);
}

TEST_F(DeviceWorks, AreToldWhenTheyAreLate) {
  std::atomic<int> told{0};
  works_->on_late([&](const WorkRecord& record) {
    EXPECT_EQ(record.op, "all_reduce");
    ++told;
    return TimedWork::Clock::time_point();
  });
  const auto in_time = start(60000), late = start(50), later = start(60);
  device_->works[0]->complete();
  while (told == 0) std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(told, 1) << "one late work is enough";
  EXPECT_TRUE(in_time->isCompleted());
  EXPECT_FALSE(late->isCompleted());
  works_->on_late(nullptr);
}

TEST_F(DeviceWorks, TensorsOfTheHostGoAnotherWay) {
  std::vector<at::Tensor> tensors{at::ones({2})};
  backend_->allreduce(tensors, c10d::AllreduceOptions());
  EXPECT_TRUE(device_->works.empty());
}

}  // namespace
}  // namespace titan::comm
