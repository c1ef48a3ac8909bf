#include "core/checkpoint/dcp/archive_reader.hpp"

#include <zlib.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/little_endian.hpp"
#include "core/checkpoint/dcp/zip_layout.hpp"

namespace titan::checkpoint {
namespace {

// An archive of DCP holds one tensor or object: 8 records at most.
constexpr std::uint64_t kMostRecords = 64;
constexpr std::uint64_t kMostDirectoryBytes = 64U << 10U;

std::uint64_t number_at(std::string_view bytes, std::size_t at, unsigned width) {
  return little_endian(bytes.substr(at, width));
}

/// The part of an entry's extra fields that has what 32 bits do not hold.
std::optional<std::string_view> large_numbers(std::string_view extra) {
  while (extra.size() >= 4) {
    const std::uint64_t size = number_at(extra, 2, 2);
    if (size > extra.size() - 4) return std::nullopt;
    if (number_at(extra, 0, 2) == zip::kLargeExtra) return extra.substr(4, static_cast<std::size_t>(size));
    extra.remove_prefix(4 + static_cast<std::size_t>(size));
  }
  return std::nullopt;
}

}  // namespace

template <class... Parts>
void ArchiveReader::fail(const Parts&... reason) const {
  throw DataError("[checkpoint] archive that is not understood: ", printable(source_), ": ", reason...);
}

ArchiveReader::ArchiveReader(RangeOfBytes bytes, std::string source)
    : bytes_(std::move(bytes)), source_(std::move(source)) {
  read_directory();
}

std::string ArchiveReader::bytes_at(std::uint64_t offset, std::uint64_t size) const {
  if (offset > bytes_.size || size > bytes_.size - offset) fail("it ends too early");
  std::string content(static_cast<std::size_t>(size), '\0');
  bytes_.read(offset, content);
  return content;
}

void ArchiveReader::read_directory() {
  if (bytes_.size < zip::kEndSize) fail("it is too short");
  std::uint64_t end_at = bytes_.size - zip::kEndSize;
  const std::string end = bytes_at(end_at, zip::kEndSize);
  if (number_at(end, 0, 4) != zip::kEnd || number_at(end, 20, 2) != 0) fail("it does not end as a zip archive");
  if (number_at(end, 4, 4) != 0) fail("it has several volumes");
  std::uint64_t count = number_at(end, 10, 2), size = number_at(end, 12, 4);
  directory_ = number_at(end, 16, 4);

  if (count == zip::kMost16 || size == zip::kMost32 || directory_ == zip::kMost32) {
    const std::uint64_t both = zip::kLargeEndSize + zip::kLocatorSize;
    if (end_at < both) fail("it lacks the end of large archives");
    end_at -= both;
    const std::string large = bytes_at(end_at, both);
    const bool is_one = number_at(large, 0, 4) == zip::kLargeEnd && number_at(large, 56, 4) == zip::kLocator &&
                        number_at(large, 4, 8) == zip::kLargeEndSize - 12 && number_at(large, 64, 8) == end_at;
    if (!is_one) fail("its end of large archives is damaged");
    count = number_at(large, 32, 8);
    size = number_at(large, 40, 8);
    directory_ = number_at(large, 48, 8);
  }
  if (count > kMostRecords || size > kMostDirectoryBytes) fail("it has too many records: ", count);
  if (directory_ > end_at || size > end_at - directory_) fail("its directory leaves it");

  const std::string directory = bytes_at(directory_, size);
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < count; ++i) read_entry(directory, at);
  if (at != directory.size()) fail("its directory has another length");
}

void ArchiveReader::read_entry(std::string_view directory, std::size_t& at) {
  const std::string_view entry = directory.substr(at);
  if (entry.size() < zip::kEntrySize || number_at(entry, 0, 4) != zip::kEntry) fail("its directory is damaged");
  const auto name_size = static_cast<std::size_t>(number_at(entry, 28, 2));
  const auto extra_size = static_cast<std::size_t>(number_at(entry, 30, 2));
  const auto comment_size = static_cast<std::size_t>(number_at(entry, 32, 2));
  if (name_size + extra_size + comment_size > entry.size() - zip::kEntrySize) fail("its directory is damaged");
  const std::string name(entry.substr(zip::kEntrySize, name_size));
  at += zip::kEntrySize + name_size + extra_size + comment_size;

  if (number_at(entry, 10, 2) != 0) fail("a record is compressed: ", printable(name));
  if ((number_at(entry, 8, 2) & zip::kEncrypted) != 0) fail("a record is encrypted: ", printable(name));
  std::uint64_t stored = number_at(entry, 20, 4);
  Entry found{number_at(entry, 42, 4), number_at(entry, 24, 4), static_cast<std::uint32_t>(number_at(entry, 16, 4))};
  std::string_view large = large_numbers(entry.substr(zip::kEntrySize + name_size, extra_size)).value_or("");
  for (std::uint64_t* number : {&found.size, &stored, &found.header}) {
    if (*number != zip::kMost32) continue;
    if (large.size() < 8) fail("a record lacks its large numbers: ", printable(name));
    *number = number_at(large, 0, 8);
    large.remove_prefix(8);
  }
  if (stored != found.size) fail("a record is compressed: ", printable(name));

  const std::size_t slash = name.find('/');
  if (slash == std::string::npos || slash + 1 == name.size()) fail("a record is in no folder: ", printable(name));
  if (top_.empty()) top_ = name.substr(0, slash + 1);
  if (!name.starts_with(top_)) fail("records are in different folders: ", printable(name));
  if (!entries_.emplace(name, found).second) fail("a record is there twice: ", printable(name));
}

bool ArchiveReader::has(std::string_view name) const { return entries_.contains(concat(top_, name)); }

std::vector<std::string> ArchiveReader::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) names.push_back(name.substr(top_.size()));
  return names;
}

ArchiveRecord ArchiveReader::find(std::string_view name) const {
  const auto found = entries_.find(concat(top_, name));
  if (found == entries_.end()) fail("it lacks a record: ", printable(name));
  const auto& [full_name, entry] = *found;
  if (entry.header > directory_ || zip::kHeaderSize + full_name.size() > directory_ - entry.header) {
    fail("a record leaves it: ", printable(name));
  }
  const std::string header = bytes_at(entry.header, zip::kHeaderSize + full_name.size());
  const bool is_it = number_at(header, 0, 4) == zip::kHeader && number_at(header, 8, 2) == 0 &&
                     number_at(header, 26, 2) == full_name.size() && header.ends_with(full_name);
  if (!is_it) fail("a record is not where the directory says: ", printable(name));
  const std::uint64_t begin = entry.header + header.size() + number_at(header, 28, 2);
  if (begin > directory_ || entry.size > directory_ - begin) fail("a record leaves it: ", printable(name));
  return {begin, entry.size, entry.checksum};
}

std::string ArchiveReader::read(std::string_view name, std::uint64_t limit) const {
  const ArchiveRecord record = find(name);
  if (record.size > limit) fail("a record is too long: ", printable(name), ": ", record.size, " bytes");
  std::string content = bytes_at(record.begin, record.size);
  const auto* data = reinterpret_cast<const Bytef*>(content.data());
  const std::uint64_t checksum = ::crc32_z(0, data, content.size());
  if (record.checksum != 0 && checksum != record.checksum) fail("a record is damaged: ", printable(name));
  return content;
}

}  // namespace titan::checkpoint
