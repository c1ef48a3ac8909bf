#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace titan::comm {

/// Who knows more of a rank than its calls do. Each is asked on any thread, one at a time.
struct Witness {
  std::function<std::string()> place;  // where the rank is, in words
  /// Something is wrong, and nothing has been given up yet: a TITAN_DUMP_* cause, and why.
  std::function<void(std::int32_t cause, std::string_view reason)> trouble;
};

/// Where a rank's witness is asked, by whoever finds out first. The witness hears of trouble on a thread of its own:
/// what it writes to may hang, which must not keep the rank alive. Thread-safe.
class WitnessStand {
 public:
  /// `patience`: how long anybody waits for the witness.
  explicit WitnessStand(std::chrono::milliseconds patience = std::chrono::seconds(5));
  ~WitnessStand();
  WitnessStand(const WitnessStand&) = delete;
  WitnessStand& operator=(const WitnessStand&) = delete;

  /// Makes somebody the witness, or nobody; returns when the one before is not being asked any more. One that hangs is
  /// left behind after a while: the process then has to end.
  void set(Witness witness);
  /// Empty: nobody says.
  std::string place() const;
  /// Tells the witness of trouble and waits until it has done what it does. What comes after it has its cause too: a
  /// failure after a timeout is a timeout.
  void report(std::int32_t cause, std::string_view reason) noexcept;
  /// As report(), but waits for nothing.
  void post(std::int32_t cause, std::string_view reason) noexcept;
  /// As report(), of another rank's failure: what this rank gives up for it is nothing to tell the witness any more.
  void report_last(std::int32_t cause, std::string_view reason) noexcept;
  /// Says what the cause is of the trouble that will be told, where there is none yet.
  void claim(std::int32_t cause) noexcept;
  /// The cause of the trouble that the witness has been told of, or will be; 0: there is none.
  std::int32_t cause() const noexcept;
  /// Takes the cause back: what seemed to be trouble was none.
  void recover() noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace titan::comm
