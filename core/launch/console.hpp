#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace titan::launch {

/// One of the launcher's own output streams. Lines wait here while a reader is slow, and are dropped past a limit: the
/// console never holds up the ranks. A stream that fails is given up.
class Console {
 public:
  static constexpr std::size_t kMostWaiting = 1 << 20;

  Console(int descriptor, bool in_color) : descriptor_(descriptor), in_color_(in_color) {}

  /// Queues "PREFIX TEXT\n"; what could steer a terminal is escaped, colours are kept where they are wanted.
  void add_line(std::string_view prefix, std::string_view text);
  /// The same for what somebody at a prompt has to know now: shown at once, on a line of its own, while it is held.
  void add_urgent_line(std::string_view prefix, std::string_view text);
  /// Writes what can be written without waiting; nothing while it is held.
  void write_some();
  /// Keeps lines back, where they go to a terminal that a rank has for a prompt.
  void hold(bool is_lent);
  /// Writes all that waits; gives the stream up when nothing could be written for `seconds`.
  void flush(double seconds);

  int descriptor() const { return descriptor_; }
  /// For the stream to take more.
  bool is_waiting() const { return !waiting_.empty() && !is_held_; }
  /// The errno with which the stream failed, or 0.
  int failure() const { return failure_; }
  /// Lines that were never written.
  std::size_t num_lost() const { return num_lost_; }

 private:
  std::string line_of(std::string_view prefix, std::string_view text) const;
  void queue(std::string_view line);
  bool write_piece();
  void give_up(int error);

  int descriptor_;
  bool in_color_;
  bool is_held_ = false;
  std::string waiting_;
  int failure_ = 0;
  std::size_t num_lost_ = 0;
  std::size_t num_lost_now_ = 0;   // since the last line that was queued
  bool is_prompts_doing_ = false;  // the first of those came while it was held
};

/// Whether lines to this descriptor keep their colours: a terminal, and NO_COLOR is not set.
bool wants_color(int descriptor);

}  // namespace titan::launch
