#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/base/temporary_folder.hpp"

namespace titan::testing {

/// Processes of comm_process_rank, each with its output in a file. They do not outlive the job.
class ProcessJob {
 public:
  ProcessJob() = default;
  ~ProcessJob();
  ProcessJob(const ProcessJob&) = delete;
  ProcessJob& operator=(const ProcessJob&) = delete;

  /// Starts a process with these arguments and environment variables beside the inherited ones; `store_socket` becomes
  /// its TITAN_STORE_FD. Gives its index.
  std::size_t start(const std::vector<std::string>& arguments, std::map<std::string, std::string> variables,
                    int store_socket = -1);
  std::size_t size() const { return processes_.size(); }
  pid_t pid(std::size_t process) const { return processes_.at(process).pid; }
  /// What it has written so far.
  std::string output(std::size_t process) const;
  /// Waits until the output holds `text`.
  bool await_output(std::size_t process, const std::string& text) const;
  /// Waits for its end. The exit code, 128 + signal, or -1 when it did not end within the limit.
  int wait(std::size_t process, std::chrono::milliseconds limit = std::chrono::seconds(60));

 private:
  struct Process {
    pid_t pid = -1;
    bool ended = false;
    int code = -1;
    std::filesystem::path output;
  };

  TemporaryFolder folder_;
  std::vector<Process> processes_;
};

/// Connects to a port of the loopback interface, sends the bytes, and keeps the connection for `open`.
void send_bytes(int port, const std::string& bytes, std::chrono::milliseconds open);

/// A port on which a process listens, and the address there as /proc/net/tcp writes it: loopback is "0100007F".
struct Listener {
  std::string address;
  int port = 0;
};
std::vector<Listener> listeners(pid_t process);

/// Most memory the process has had, in bytes.
std::int64_t peak_memory(pid_t process);

}  // namespace titan::testing
