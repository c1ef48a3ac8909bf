#pragma once

#include <functional>
#include <optional>
#include <thread>

#include "core/base/bell.hpp"

namespace titan::train {

/// A thread that does something each time a bell rings, whatever the training thread is doing.
class DumpOnRequest {
 public:
  /// Without a bell there is no thread.
  DumpOnRequest(Bell* requests, std::function<void()> dump);
  /// Waits for what is under way.
  ~DumpOnRequest();
  DumpOnRequest(const DumpOnRequest&) = delete;
  DumpOnRequest& operator=(const DumpOnRequest&) = delete;

 private:
  void dump() const noexcept;

  std::function<void()> dump_;
  std::optional<Bell::Listener> requests_;
  std::thread thread_;
};

}  // namespace titan::train
