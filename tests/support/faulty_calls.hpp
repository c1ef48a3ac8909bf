#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/checkpoint/system_calls.hpp"

namespace titan::test {

enum class Call : std::uint8_t { open, write, fsync, close, mkdir, rename, unlink, rmdir };

/// "open".
std::string_view call_name(Call call);

/// What happens to which call.
struct Fault {
  enum class Deed : std::uint8_t {
    kill_before,   // SIGKILL to this process instead of the call
    kill_halfway,  // the first half of a write, then SIGKILL; other calls as kill_before
    kill_after,
    fail,     // returns -1 and sets errno
    shorten,  // writes a part of the bytes
    delay
  };
  Deed deed = Deed::fail;
  std::optional<Call> call = std::nullopt;  // none: calls of every kind are counted
  std::int64_t at = 1;                      // the how manieth of these, from 1 on; 0: all of them
  int error = 0;                            // errno
  std::chrono::milliseconds delay{0};
};

/// A call that was made, and the file or folder it was about; a rename's source.
struct MadeCall {
  Call call = Call::open;
  std::string path;
};

/// The machine's system calls, of which some fail, and a list of those that were made. Any thread.
class FaultyCalls final : public checkpoint::SystemCalls {
 public:
  /// Takes the place of a former fault; counting begins anew.
  void set_fault(const Fault& fault);
  void clear_fault();
  /// Whether the fault has struck.
  bool has_struck() const;
  std::vector<MadeCall> made() const;

  int open(const char* path, int flags, unsigned mode) override;
  ssize_t write(int descriptor, const void* bytes, std::size_t size) override;
  int fsync(int descriptor) override;
  int close(int descriptor) override;
  int mkdir(const char* path, unsigned mode) override;
  int rename(const char* from, const char* to) override;
  int unlink(const char* path) override;
  int rmdir(const char* path) override;

 private:
  /// Notes the call; says what befalls it.
  std::optional<Fault> note(Call call, const std::string& path);
  std::string path_of(int descriptor) const;

  mutable std::mutex mutex_;
  std::optional<Fault> fault_;
  std::int64_t num_counted_ = 0;
  bool has_struck_ = false;
  std::vector<MadeCall> made_;
  std::map<int, std::string> open_;
};

}  // namespace titan::test
