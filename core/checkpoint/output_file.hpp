#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "core/checkpoint/system_calls.hpp"

namespace titan::checkpoint {

/// A new file that is written from begin to end, through the page cache. One thread.
class OutputFile {
 public:
  /// Makes the file, mode 0600; no link is followed. `size` is what will be written, for errors. CreateError names path
  /// and cause; a file of that name is one.
  OutputFile(SystemCalls& calls, std::filesystem::path path, std::uint64_t size);
  /// Closes the file. What was not finished stays there.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Writes all, over signals and short writes. IoError names path and cause; out of space: "need X, have Y".
  void write(std::span<const std::byte> bytes);
  /// Syncs and closes the file. IoError: what was written may be lost.
  void finish();

 private:
  [[noreturn]] void fail(int error) const;

  SystemCalls& calls_;
  std::filesystem::path path_;
  std::uint64_t size_;
  std::uint64_t written_ = 0;
  int descriptor_;
};

}  // namespace titan::checkpoint
