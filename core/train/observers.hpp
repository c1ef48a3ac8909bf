#pragma once

#include <string>
#include <vector>

#include "core/comm/records.hpp"
#include "core/config/engine.hpp"

namespace titan::train {

/// Delivers the events of one run. An observer that fails is disabled with one warning. Used by the training thread.
class Observers {
 public:
  Observers(const titan_host* host, std::vector<PluginInterface<titan_observer_v1>> observers);

  void run_begin(const titan_run_event& event);
  void step_end(const titan_step_event& event);
  void validation(const titan_validation_event& event);
  void run_end(const titan_run_end_event& event);
  /// A call of a collective that was waited for.
  void collective(const comm::WorkRecord& record);

 private:
  struct Observer {
    PluginInterface<titan_observer_v1> plugin;
    bool enabled = true;
  };
  template <class Callback, class Event>
  void deliver(std::uint32_t bit, const char* name, Callback titan_observer_v1::*callback, const Event& event);

  const titan_host* host_;
  std::vector<Observer> observers_;
};

}  // namespace titan::train
