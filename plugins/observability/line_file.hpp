#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>

namespace titan::observability {

/// A file of lines that only grows, and only by whole lines; made with the first one, mode 0600. One thread.
/// Errors are std::system_error with the path in their text.
class LineFile {
 public:
  /// Begins anew. A file of that name is renamed: "metrics.jsonl" to "metrics.1.jsonl", or the next free number;
  /// nothing is overwritten.
  static LineFile begin(const std::filesystem::path& path);
  /// Continues a file, if there is one: keeps its lines up to the first that `keep` refuses or that has no newline.
  static LineFile resume(const std::filesystem::path& path, const std::function<bool(std::string_view line)>& keep);

  LineFile(LineFile&& other) noexcept;
  LineFile& operator=(LineFile&& other) noexcept;
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  ~LineFile();

  /// Appends `line`, which ends with a newline, by one write. When that fails the file keeps its former length.
  void append(std::string_view line);
  /// Takes the last `bytes` back, which were appended by this object.
  void withdraw(std::size_t bytes);

 private:
  explicit LineFile(std::filesystem::path path) : path_(std::move(path)) {}

  void open(int flags);

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;
};

}  // namespace titan::observability
