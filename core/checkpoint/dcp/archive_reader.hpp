#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace titan::checkpoint {

/// Bytes that are read when they are asked for.
struct RangeOfBytes {
  std::uint64_t size = 0;
  /// Fills `bytes` from `offset` on; they lie within `size`. Throws when it cannot.
  std::function<void(std::uint64_t offset, std::span<char> bytes)> read;
};

/// Where a record of an archive lies in it.
struct ArchiveRecord {
  std::uint64_t begin = 0, size = 0;
  std::uint32_t checksum = 0;  // CRC-32; 0: none
};

/// The directory of a zip archive as torch.save writes it: no record compressed or encrypted, all in one top folder, no
/// comment, nothing before or behind the archive.
class ArchiveReader {
 public:
  /// Reads the directory. DataError names `source`: another kind of archive, records that leave it, too many records,
  /// a name twice.
  ArchiveReader(RangeOfBytes bytes, std::string source);

  /// Whether there is a record of that name, the top folder left out.
  bool has(std::string_view name) const;
  /// The names of all records, the top folder left out, in order.
  std::vector<std::string> names() const;
  /// Where a record lies, after a look at its own header. DataError: there is none of that name.
  ArchiveRecord find(std::string_view name) const;
  /// A record's content. DataError: it has more than `limit` bytes, or another checksum.
  std::string read(std::string_view name, std::uint64_t limit) const;
  const std::string& source() const { return source_; }
  const RangeOfBytes& bytes() const { return bytes_; }

 private:
  struct Entry {
    std::uint64_t header = 0, size = 0;
    std::uint32_t checksum = 0;
  };

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... reason) const;
  std::string bytes_at(std::uint64_t offset, std::uint64_t size) const;
  void read_directory();
  /// Reads an entry from `at` on, which it moves behind it.
  void read_entry(std::string_view directory, std::size_t& at);

  RangeOfBytes bytes_;
  std::string source_;
  std::string top_;                       // "archive/"
  std::map<std::string, Entry> entries_;  // with the top folder
  std::uint64_t directory_ = 0;           // where it begins
};

}  // namespace titan::checkpoint
