#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/file_descriptor.hpp"

namespace titan::plugin {

/// Bytes of known number that may be read anywhere.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual std::uint64_t size() const = 0;
  /// Copies `count` bytes from `offset`. False where the source does not hold them all.
  virtual bool read(std::uint64_t offset, void* to, std::uint64_t count) const = 0;
};

/// A regular file, opened for reading. The constructor throws LoadProblem: no such file, a folder, not readable.
class FileBytes : public ByteSource {
 public:
  explicit FileBytes(const std::filesystem::path& file);
  std::uint64_t size() const override { return size_; }
  bool read(std::uint64_t offset, void* to, std::uint64_t count) const override;

 private:
  FileDescriptor descriptor_;
  std::uint64_t size_ = 0;
};

/// Bytes in memory, borrowed.
class MemoryBytes : public ByteSource {
 public:
  explicit MemoryBytes(std::string_view bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  bool read(std::uint64_t offset, void* to, std::uint64_t count) const override;

 private:
  std::string_view bytes_;
};

}  // namespace titan::plugin
