#include "core/base/log_spdlog.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/file_descriptor.hpp"

namespace titan {

namespace {

constexpr int kBusyMilliseconds = 1000;

/// Python's names of the levels.
class LevelFlag : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override {
    const bool debug = message.level <= spdlog::level::debug;
    const bool warning = message.level == spdlog::level::warn;
    const std::string_view name = level_name(debug                                 ? LogLevel::debug
                                             : warning                             ? LogLevel::warning
                                             : message.level >= spdlog::level::err ? LogLevel::error
                                                                                   : LogLevel::info);
    out.append(name.data(), name.data() + name.size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<LevelFlag>(); }
};

std::unique_ptr<spdlog::formatter> line_formatter() {
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<LevelFlag>('*').set_pattern("[titan] %Y-%m-%d %H:%M:%S,%e - root - %* - %v");
  return formatter;
}

/// Writes lines to a descriptor. A failure never throws: lines are lost, and the first loss is kept for a report.
class DescriptorSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  DescriptorSink(int descriptor, bool color, std::string name)
      : descriptor_(descriptor), color_(color), name_(std::move(name)) {}
  DescriptorSink(FileDescriptor file, std::string name)
      : file_(std::move(file)), descriptor_(file_.get()), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  /// The errno of the first failure, once; else 0.
  int take_new_failure() { return new_failure_.exchange(0); }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t buffer;
    formatter_->format(message, buffer);
    const std::string_view line(buffer.data(), buffer.size());
    const int error = color_ ? write_line(line) : write_line(without_color(line));
    if (error != 0 && !failed_) {
      failed_ = true;
      new_failure_ = error;
    }
  }
  void flush_() override {}

 private:
  /// A descriptor that does not block and is full gets a second to drain, then the line is lost.
  int write_line(std::string_view line) const {
    int error = write_all(descriptor_, line);
    if (error == EAGAIN && !failed_) {
      pollfd waiting{descriptor_, POLLOUT, 0};
      ::poll(&waiting, 1, kBusyMilliseconds);
      error = write_all(descriptor_, line);
    }
    return error;
  }

  FileDescriptor file_;
  int descriptor_;
  bool color_ = false;
  std::string name_;
  bool failed_ = false;
  std::atomic<int> new_failure_{0};
};

/// Leaked on purpose: threads may log until the very end of the process.
struct Log {
  std::mutex mutex;  // guards the list of sinks
  std::vector<std::shared_ptr<DescriptorSink>> sinks;
  std::atomic<int> lowest{0};
};

Log& the_log() {
  static Log& instance = *new Log;
  return instance;
}

bool wants_color() {
  const char* no_color = std::getenv("NO_COLOR");
  return ::isatty(STDERR_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
}

std::vector<std::shared_ptr<DescriptorSink>> sinks_now() {
  const std::lock_guard lock(the_log().mutex);
  return the_log().sinks;
}

void add_sink(std::shared_ptr<DescriptorSink> sink) {
  sink->set_formatter(line_formatter());
  const std::lock_guard lock(the_log().mutex);
  the_log().sinks.push_back(std::move(sink));
}

void write_line(spdlog::level::level_enum level, std::string_view text) {
  const auto sinks = sinks_now();
  spdlog::logger logger("root", sinks.begin(), sinks.end());
  logger.set_level(spdlog::level::trace);
  logger.log(level, spdlog::string_view_t(text.data(), text.size()));
}

/// Tells those who still listen that a place went silent.
void report_failures() {
  for (const auto& sink : sinks_now()) {
    if (const int error = sink->take_new_failure(); error != 0) {
      const std::string why = std::generic_category().message(error);
      write_line(spdlog::level::warn, concat("[log] lines are lost: cannot write to ", sink->name(), ": ", why));
    }
  }
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    default:
      return spdlog::level::err;
  }
}

/// Info lines stand alone, as torchtitan's do; a warning says where it comes from, unless its text does already.
std::string with_tag(LogLevel level, std::string_view tag, std::string_view text) {
  const std::string prefix = concat("[", tag, "] ");
  const bool shown = level != LogLevel::info && !tag.empty() && !text.starts_with(prefix);
  return concat(shown ? std::string_view(prefix) : std::string_view(), text);
}

}  // namespace

void start_spdlog(LogLevel lowest) {
  std::signal(SIGPIPE, SIG_IGN);
  the_log().lowest = static_cast<int>(lowest);
  add_sink(std::make_shared<DescriptorSink>(STDERR_FILENO, wants_color(), "standard error"));
  set_log_sink(&spdlog_sink);
}

void add_log_file(const std::filesystem::path& path) {
  FileDescriptor file = open_descriptor(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NOCTTY, 0600);
  if (!file.is_open()) {
    const int error = errno;
    if (error == ELOOP) throw TrustError("[log] log file is a symbolic link: ", printable(path.native()));
    throw CreateError("[log] cannot open log file: ", printable(path.native()), ": ",
                      std::generic_category().message(error));
  }
  add_sink(std::make_shared<DescriptorSink>(std::move(file), printable(path.native())));
}

void spdlog_sink(LogLevel level, std::string_view tag, std::string_view text) {
  if (static_cast<int>(level) < the_log().lowest) return;
  write_line(spdlog_level(level), with_tag(level, tag, text));
  report_failures();
}

}  // namespace titan
