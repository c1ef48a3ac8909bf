#include "plugins/observability/memory/report_gate.hpp"

namespace titan::observability {

std::uint32_t ReportGate::begin(std::uint64_t asked, Time now) {
  const std::lock_guard lock(mutex_);
  if (!is_open_) return 0;
  if (num_reports_ > 0 && asked <= asked_ && now < last_ + kQuiet) return 0;
  is_open_ = false;
  asked_ = asked;
  return ++num_reports_;
}

void ReportGate::end(Time now) {
  const std::lock_guard lock(mutex_);
  is_open_ = true;
  last_ = now;
}

}  // namespace titan::observability
