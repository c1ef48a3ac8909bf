#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace titan::checkpoint {

/// Writes a zip archive as torch.save does: records are not compressed, and their content begins at multiples of 64. A
/// record's content may also be written by the caller, between two take(). Less than 4 GiB in all.
class ArchiveWriter {
 public:
  /// Adds a record with its content. Names have no folder.
  void add(std::string_view name, std::string_view content);
  /// Begins a record, whose content of `size` bytes the caller writes.
  void begin(std::string_view name, std::uint64_t size);
  /// Ends that record. `checksum` is the CRC-32 of its content.
  void end(std::uint32_t checksum);
  /// Adds the directory.
  void finish();

  /// What was made since the last take().
  std::string take();
  /// Bytes of the archive so far, the caller's too.
  std::uint64_t size() const { return size_; }

 private:
  struct Entry {
    std::string name;
    std::uint64_t header = 0, size = 0;
    std::uint32_t checksum = 0;
  };

  void append(std::string_view bytes);
  void append_number(std::uint64_t number, unsigned width);
  void append_entry(const Entry& entry);

  std::string out_;
  std::uint64_t size_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace titan::checkpoint
