#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace titan::comm {

/// Who knows more of a rank than its calls do. Each is asked on any thread, one at a time.
struct Witness {
  std::function<std::string()> place;  // where the rank is, in words
  /// Something is wrong, and nothing has been given up yet: a TITAN_DUMP_* cause, and why.
  std::function<void(std::int32_t cause, std::string_view reason)> trouble;
};

/// Where a rank's witness is asked, by whoever finds out first. Thread-safe.
class WitnessStand {
 public:
  /// Makes somebody the witness, or nobody; returns when the one before is not being asked any more.
  void set(Witness witness);
  /// Empty: nobody says.
  std::string place() const;
  /// Tells the witness of trouble. What comes after it has its cause too: a failure after a timeout is a timeout.
  void report(std::int32_t cause, std::string_view reason) noexcept;

 private:
  // Two, because writing things down takes its time: others are told meanwhile where the rank is.
  mutable std::mutex place_mutex_;
  std::mutex trouble_mutex_;
  Witness witness_;
  std::int32_t first_cause_ = 0;
};

}  // namespace titan::comm
