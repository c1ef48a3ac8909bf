#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "core/checkpoint/system_calls.hpp"

namespace titan::checkpoint {

/// A new file that is written from begin to end, past the page cache where memory and file system allow it. One thread.
class OutputFile {
 public:
  /// Makes the file, mode 0600; no link is followed. `size` is what will be written, for errors. CreateError names path
  /// and cause; a file of that name is one. IoError: the disk is full or broken.
  OutputFile(SystemCalls& calls, std::filesystem::path path, std::uint64_t size);
  /// Closes the file. What was not finished stays there.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Writes all, over signals and short writes; directly where the bytes are aligned to kDirectAlignment and so is
  /// their place in the file. IoError names path and cause; out of space: "need X, have Y".
  void write(std::span<const std::byte> bytes);
  /// Syncs and closes the file. IoError: what was written may be lost. A sync that failed is not tried again: the
  /// system may have dropped the pages, and would then say that all is well.
  void finish();

 private:
  void write_some(std::span<const std::byte> bytes, bool direct);
  void set_direct(bool direct);
  [[noreturn]] void fail(int error) const;

  SystemCalls& calls_;
  std::filesystem::path path_;
  std::uint64_t size_;
  std::uint64_t written_ = 0;
  int descriptor_;
  bool can_direct_ = true, is_direct_ = false;
};

}  // namespace titan::checkpoint
