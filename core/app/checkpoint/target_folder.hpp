#pragma once

#include <filesystem>

#include "core/checkpoint/system_calls.hpp"

namespace titan::app {

/// A folder that appears whole or not at all: what is written to a folder beside it gets its name at the end. The end
/// of its life removes what has not.
class TargetFolder {
 public:
  /// Makes the folder beside. CreateError: the target is there and not an empty folder, or nothing can be made there.
  TargetFolder(checkpoint::SystemCalls& calls, const std::filesystem::path& target);
  ~TargetFolder();
  TargetFolder(const TargetFolder&) = delete;
  TargetFolder& operator=(const TargetFolder&) = delete;

  /// Where to write.
  const std::filesystem::path& beside() const { return beside_; }
  /// Gives a folder inside beside() the target's name. CreateError or IoError.
  void publish(const std::filesystem::path& folder);

 private:
  checkpoint::SystemCalls& calls_;
  std::filesystem::path target_, beside_;
};

}  // namespace titan::app
