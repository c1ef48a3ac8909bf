#pragma once

#include <cstdint>
#include <fstream>
#include <string_view>

#include "counts.hpp"
#include "titan/abi/observer.h"
#include "titan/sdk/host.hpp"

namespace collective_counter {

/// Counts one rank's collectives and reports them at the end of each stretch of the run. All on the training thread.
class Counter {
 public:
  explicit Counter(titan::sdk::Host host);

  void collective(const titan_collective_event& event) { counts_.add(event); }
  void run_begin(const titan_run_event& event);
  void step_end(const titan_step_event& event);
  void validation(const titan_validation_event& event);
  void run_end(const titan_run_end_event& event);

 private:
  // Writes the row of a stretch and begins the next one.
  void close(std::string_view stretch, std::int64_t step);

  titan::sdk::Host host_;
  bool logs_;
  Counts counts_;
  std::ofstream file_;
};

}  // namespace collective_counter
