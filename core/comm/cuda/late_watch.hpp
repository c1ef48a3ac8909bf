#pragma once

#include <c10/util/intrusive_ptr.h>

#include <functional>
#include <memory>

#include "core/comm/records.hpp"
#include "core/comm/timed_work.hpp"

namespace titan::comm {

/// A work that a device does by itself.
class DeviceWork : public TimedWork {
 public:
  explicit DeviceWork(c10::intrusive_ptr<c10d::Work> inner) : inner_(std::move(inner)) { begin(); }

  /// Orders the current stream behind the work.
  bool join(Clock::time_point deadline) override;
  /// Ends the work when the device has done it, or could not.
  void look();

 private:
  c10::intrusive_ptr<c10d::Work> inner_;
};

/// A thread that looks when devices have done their works.
class LateWatch {
 public:
  /// `late` is told, on the thread, of a work that is not done its time after it was given; it gives the time that work
  /// has from now on. Once that has passed already, nobody is told any more.
  using Late = std::function<TimedWork::Clock::time_point(const WorkRecord& record)>;
  explicit LateWatch(Late late);
  ~LateWatch();
  LateWatch(const LateWatch&) = delete;
  LateWatch& operator=(const LateWatch&) = delete;

  void add(c10::intrusive_ptr<DeviceWork> work, const WorkRecord& record);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace titan::comm
