#pragma once

#include <filesystem>

namespace titan::observability {

/// Where Kineto writes a trace before it is converted: nobody else can read it, and it is removed at the end with the
/// file beside it that Kineto writes first. Errors are std::system_error.
class RawTrace {
 public:
  explicit RawTrace(std::filesystem::path path);
  ~RawTrace();
  RawTrace(const RawTrace&) = delete;
  RawTrace& operator=(const RawTrace&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Throws why nothing can be written here, for Kineto does not say it; returns where something can.
  void require_space() const;

 private:
  std::filesystem::path path_, kinetos_;
};

}  // namespace titan::observability
