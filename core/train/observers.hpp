#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/comm/records.hpp"
#include "core/config/engine.hpp"

namespace titan::train {

/// Delivers the events of one run. An observer that fails is disabled with one warning. Used by the training thread
/// unless said otherwise.
class Observers {
 public:
  Observers(const titan_host* host, std::vector<PluginInterface<titan_observer_v1>> observers);

  void run_begin(const titan_run_event& event);
  void step_end(const titan_step_event& event);
  void validation(const titan_validation_event& event);
  void run_end(const titan_run_end_event& event);
  /// A call of a collective that was waited for.
  void collective(const comm::WorkRecord& record);
  void span(const titan_span_event& event);
  /// [any thread] Makes the observers write down what is known of the rank. `place` says where it is.
  void dump(std::int32_t cause, std::string_view reason, const std::string& place, const comm::Recorder& records);
  /// Whether anybody wants an event: a TITAN_EVENT_* bit.
  bool want(std::uint32_t event) const;

 private:
  struct Observer {
    PluginInterface<titan_observer_v1> plugin;
    std::uint32_t events = 0;
    std::atomic<bool> enabled{true};
  };
  template <class Callback, class Event>
  void deliver(std::uint32_t bit, const char* name, Callback titan_observer_v1::*callback, const Event& event);

  const titan_host* host_;
  std::deque<Observer> observers_;
  std::mutex dump_mutex_;
};

}  // namespace titan::train
