#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/temporary_folder.hpp"

namespace titan::cli {

/// What a finished process left behind.
struct Outcome {
  int status = 0;             // exit status, or 128 + signal
  bool was_killed = false;    // ended by a signal
  bool was_too_slow = false;  // killed by this runner
  std::string out;
  std::string err;
  double cpu_seconds = 0;              // user and system
  std::int64_t peak_memory_bytes = 0;  // that were in memory at once

  /// Status and both texts, for a failed expectation.
  std::string text() const;
};

/// GoogleTest's form of it; matchers show the rest.
inline void PrintTo(const Outcome& outcome, std::ostream* out) { *out << "status " << outcome.status; }

using test::TemporaryFolder;

/// Content of a file; empty where there is none.
std::string read(const std::filesystem::path& path);

/// A started process. Killed, if it still runs, at the end of its life here.
class Process {
 public:
  Process(pid_t pid, std::filesystem::path out, std::filesystem::path err, double limit_s);
  ~Process();
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  bool is_running();
  /// Waits for the end; kills the process after the command's time limit.
  Outcome wait();

 private:
  bool reap(int options);

  pid_t pid_;
  std::filesystem::path out_;
  std::filesystem::path err_;
  double limit_s_;
  bool is_reaped_ = false;
  Outcome outcome_;
};

/// One call of a program, in a folder and an environment of its own: nothing of the caller's TITAN_* is seen.
class Command {
 public:
  /// `folder` is the working folder, and takes the captured output.
  Command(std::filesystem::path program, const TemporaryFolder& folder);

  Command& args(std::initializer_list<std::string> more);
  Command& args(const std::vector<std::string>& more);
  Command& env(const std::string& name, const std::string& value);
  Command& in(std::filesystem::path working_folder);
  /// Sends a stream (1 or 2) to a file, as a shell's redirection; empty: closes it.
  Command& redirect(int stream, const std::string& file);
  /// Sends a stream to a descriptor of the caller's.
  Command& redirect(int stream, int descriptor);
  /// Gives it this terminal: the program leads a session there, in the foreground, and all three streams are the
  /// terminal; redirections win.
  Command& terminal(const std::string& device);
  /// What standard input is: a file, or a descriptor of the caller's; closed where the file is empty. Else nothing.
  Command& input(const std::string& file);
  Command& input(int descriptor);
  Command& limit(double seconds);
  /// Limits the process's address space, in bytes.
  Command& address_space(std::uint64_t bytes);

  Process start();
  Outcome run();

 private:
  [[noreturn]] void execute(const std::filesystem::path& out, const std::filesystem::path& err) const;
  void connect(int stream, const std::filesystem::path& captured) const;
  void connect_input() const;

  std::filesystem::path program_;
  std::filesystem::path working_folder_;
  std::filesystem::path capture_folder_;
  std::vector<std::string> args_;
  std::map<std::string, std::string> environment_;
  std::map<int, std::string> files_;
  std::map<int, int> descriptors_;
  std::string terminal_;
  double limit_s_ = 120;
  std::uint64_t address_space_ = 0;  // 0: no limit
};

}  // namespace titan::cli
