#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/file_descriptor.hpp"
#include "core/launch/rank_variables.hpp"

namespace titan::launch {

/// A program to start.
struct ChildProgram {
  std::filesystem::path program;
  std::vector<std::string> arguments;  // without the program's name
  Variables variables;
  std::vector<int> inherited;                             // descriptors that stay open under their numbers
  std::optional<rlimit> descriptor_limit = std::nullopt;  // of its open files; none: this process's
};

/// How a process changed.
struct ChildChange {
  enum class Kind { ended, stopped, continued } kind = Kind::ended;
  int status = 0;               // ended: exit status, or 128 + signal
  int signal = 0;               // ended: the signal that killed it, or 0; stopped: the signal that stopped it
  bool is_status_lost = false;  // ended, and another reaped it: neither is known
};

/// A process in a group of its own, which the kernel kills when the thread that started it ends. Its standard input is
/// empty. Destroying it kills the whole group and reaps the process.
class ChildProcess {
 public:
  /// Starts the program with pipes as standard output and error. ResourceError when it cannot be started.
  explicit ChildProcess(const ChildProgram& program);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  /// -1 when another reaped the process.
  pid_t pid() const { return pid_; }
  /// The reading ends; they do not block.
  FileDescriptor& standard_output() { return standard_output_; }
  FileDescriptor& standard_error() { return standard_error_; }

  bool has_ended() const { return has_ended_; }
  /// Tells one change since the last call, without waiting. A process that ended is a zombie from then on.
  std::optional<ChildChange> poll_change();
  /// Sends a signal to the process, if it still runs.
  void signal(int number) const;
  /// Kills every process of the group, also those that the ended process left behind.
  void kill_group() const;

 private:
  pid_t pid_ = -1;
  bool has_ended_ = false;
  FileDescriptor standard_output_;
  FileDescriptor standard_error_;
};

}  // namespace titan::launch
