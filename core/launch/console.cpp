#include "core/launch/console.hpp"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "core/base/clock.hpp"
#include "core/base/text.hpp"

namespace titan::launch {
namespace {

/// Waits until a write of up to PIPE_BUF bytes cannot block, at most `milliseconds`.
bool is_writable(int descriptor, int milliseconds) {
  pollfd waiting{descriptor, POLLOUT, 0};
  return ::poll(&waiting, 1, milliseconds) > 0;
}

}  // namespace

bool wants_color(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  return ::isatty(descriptor) == 1 && (no_color == nullptr || *no_color == '\0');
}

std::string Console::line_of(std::string_view prefix, std::string_view text) const {
  const std::string safe = printable_in_color(text);
  return concat(prefix, " ", in_color_ ? safe : without_color(safe), "\n");
}

void Console::add_line(std::string_view prefix, std::string_view text) { queue(line_of(prefix, text)); }

void Console::add_urgent_line(std::string_view prefix, std::string_view text) {
  if (!is_held_ || failure_ != 0) return add_line(prefix, text);
  // The sign of the prompt, or what is being typed there, stands on the line.
  const std::string line = concat("\n", line_of(prefix, text));
  if (!is_writable(descriptor_, 0) || ::write(descriptor_, line.data(), line.size()) < 0) add_line(prefix, text);
}

void Console::queue(std::string_view line) {
  if (failure_ != 0 || waiting_.size() + line.size() > kMostWaiting) {
    ++num_lost_;
    if (num_lost_now_++ == 0) is_prompts_doing_ = is_held_;
    return;
  }
  if (num_lost_now_ > 0) {
    waiting_ +=
        concat("[launch]: ", num_lost_now_, " lines were not shown: ",
               is_prompts_doing_ ? "too many came while a prompt had the terminal" : "the reader is slow", '\n');
  }
  num_lost_now_ = 0;
  waiting_ += line;
  write_some();
}

void Console::write_some() {
  while (is_waiting() && is_writable(descriptor_, 0) && write_piece()) continue;
}

void Console::hold(bool is_lent) { is_held_ = is_lent && ::isatty(descriptor_) == 1; }

void Console::flush(double seconds) {
  is_held_ = false;
  double last = monotonic_seconds();
  while (is_waiting() && monotonic_seconds() - last < seconds) {
    if (is_writable(descriptor_, 50) && write_piece()) last = monotonic_seconds();
  }
  if (is_waiting()) give_up(ETIMEDOUT);
}

/// False when nothing was written.
bool Console::write_piece() {
  // The descriptor may block: a pipe that poll() calls writable has room for this many bytes.
  const std::size_t size = std::min<std::size_t>(waiting_.size(), PIPE_BUF);
  const ssize_t written = ::write(descriptor_, waiting_.data(), size);
  if (written > 0) waiting_.erase(0, static_cast<std::size_t>(written));
  if (written < 0 && errno != EINTR && errno != EAGAIN) give_up(errno);
  return written > 0;
}

void Console::give_up(int error) {
  failure_ = error;
  num_lost_ += static_cast<std::size_t>(std::ranges::count(waiting_, '\n'));
  waiting_.clear();
}

}  // namespace titan::launch
