#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/comm/processes/call_log.hpp"
#include "core/comm/processes/testimony.hpp"
#include "core/comm/witness.hpp"

namespace titan::comm {

/// What a rank that is a process knows of itself, for those who ask it and for what it writes down. Thread-safe.
class SelfPortrait {
 public:
  /// Made on the training thread.
  explicit SelfPortrait(std::int64_t rank);

  CallLog& calls() { return calls_; }
  /// Until there is a stand, there is nobody to report to.
  void introduce(std::shared_ptr<WitnessStand> stand);
  /// The call that the training thread waits for, which lives until the next one is named; null: none.
  void set_waits(const WorkRecord* record);
  /// The group that the training thread opens; empty: none.
  void set_opens(std::string group);
  /// Says whether this rank has raised an alarm: it need not be told of it.
  void set_alarmed(bool on) { is_alarmed_ = on; }
  bool is_alarmed() const { return is_alarmed_; }

  /// Answers an alarm. Looks at the training thread, where that waits for nobody.
  Answer answer() const;
  /// Tell the witness, as WitnessStand's do.
  void report(std::int32_t cause, std::string_view reason) const noexcept;
  void post(std::int32_t cause, std::string_view reason) const noexcept;
  void report_last(std::int32_t cause, std::string_view reason) const noexcept;
  void claim(std::int32_t cause) const noexcept;
  /// Why this rank fails, if it does: a TITAN_DUMP_* cause.
  std::int32_t cause() const noexcept;

 private:
  std::string waits() const;
  std::shared_ptr<WitnessStand> stand() const;

  pid_t training_thread_;
  CallLog calls_;
  std::atomic<bool> is_alarmed_{false};
  mutable std::mutex mutex_;
  const WorkRecord* record_ = nullptr;
  std::string opens_;
  std::shared_ptr<WitnessStand> stand_;
};

}  // namespace titan::comm
