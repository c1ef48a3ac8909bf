#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace titan::observability {

/// Which shortages are worth a report. A report does not use itself up, as the shortage may have been a false alarm:
/// somebody tried whether there is memory and goes on without. Nor does each failure on the way out get one. [any
/// thread]
class ReportGate {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// So long after a report only more than was asked for then is worth another.
  static constexpr std::chrono::seconds kQuiet{10};

  /// The number of the report to make, from 1, which end() ends; 0: none.
  std::uint32_t begin(std::uint64_t asked, Time now);
  void end(Time now);

 private:
  std::mutex mutex_;
  bool is_open_ = true;
  std::uint32_t num_reports_ = 0;
  std::uint64_t asked_ = 0;
  Time last_{};
};

}  // namespace titan::observability
