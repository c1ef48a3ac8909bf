#include "core/app/checkpoint/progress.hpp"

#include <unistd.h>

#include <utility>

#include "core/app/signals.hpp"
#include "core/base/clock.hpp"
#include "core/base/file_descriptor.hpp"
#include "core/base/log.hpp"
#include "core/base/quantity.hpp"

namespace titan::app {
namespace {

constexpr double kTerminalSeconds = 0.2;
constexpr double kLogSeconds = 5;
constexpr const char* kClear = "\r\x1b[K";

}  // namespace

Progress::Progress(std::string what)
    : what_(std::move(what)), is_terminal_(::isatty(STDERR_FILENO) == 1), begin_(monotonic_seconds()), last_(begin_) {}

Progress::~Progress() {
  if (is_shown_) write_all(STDERR_FILENO, kClear);
}

void Progress::update(std::uint64_t done, std::uint64_t total) {
  stop_flag().check();
  const double now = monotonic_seconds();
  if (now - last_ < (is_terminal_ ? kTerminalSeconds : kLogSeconds) || total == 0) return;
  last_ = now;
  const auto rate = static_cast<std::uint64_t>(static_cast<double>(done) / (now - begin_));
  const auto percent = static_cast<int>(100.0 * static_cast<double>(done) / static_cast<double>(total));
  const std::string text =
      concat(what_, ": ", percent, " %, ", bytes_text(done), " of ", bytes_text(total), ", ", bytes_text(rate), "/s");
  if (!is_terminal_) return log_info("checkpoint", text);
  is_shown_ = write_all(STDERR_FILENO, concat(kClear, printable(text))) == 0;
}

}  // namespace titan::app
