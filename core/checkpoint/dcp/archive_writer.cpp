#include "core/checkpoint/dcp/archive_writer.hpp"

#include <zlib.h>

#include <utility>

#include "core/base/error.hpp"
#include "core/base/little_endian.hpp"
#include "core/checkpoint/dcp/zip_layout.hpp"

namespace titan::checkpoint {
namespace {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint64_t kPaddingHeader = 4;  // name of the extra field, and its length

}  // namespace

void ArchiveWriter::append(std::string_view bytes) {
  out_.append(bytes);
  size_ += bytes.size();
}

void ArchiveWriter::append_number(std::uint64_t number, unsigned width) {
  append_little_endian(out_, number, width);
  size_ += width;
}

void ArchiveWriter::add(std::string_view name, std::string_view content) {
  begin(name, content.size());
  out_.append(content);
  end(static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size())));
}

void ArchiveWriter::begin(std::string_view name, std::uint64_t size) {
  Entry entry{concat("archive/", name), size_, size, 0};
  const std::uint64_t bare = size_ + zip::kHeaderSize + entry.name.size() + kPaddingHeader;
  const std::uint64_t padding = (kAlignment - bare % kAlignment) % kAlignment;
  append_number(zip::kHeader, 4);
  append_number(0, 2);  // needs no version
  append_number(zip::kHasDescriptor | zip::kUtf8, 2);
  // Method, time, checksum and sizes: the descriptor and the directory have them.
  for (int i = 0; i < 3; ++i) append_number(0, 6);
  append_number(entry.name.size(), 2);
  append_number(kPaddingHeader + padding, 2);
  append(entry.name);
  append("FB");
  append_number(padding, 2);
  append(std::string(static_cast<std::size_t>(padding), 'Z'));
  size_ += size;
  entries_.push_back(std::move(entry));
}

void ArchiveWriter::end(std::uint32_t checksum) {
  Entry& entry = entries_.back();
  entry.checksum = checksum;
  append_number(zip::kDescriptor, 4);
  append_number(checksum, 4);
  append_number(entry.size, 4);
  append_number(entry.size, 4);
}

void ArchiveWriter::append_entry(const Entry& entry) {
  append_number(zip::kEntry, 4);
  append_number(0, 4);  // versions
  append_number(zip::kHasDescriptor | zip::kUtf8, 2);
  append_number(0, 6);  // method, time
  append_number(entry.checksum, 4);
  append_number(entry.size, 4);
  append_number(entry.size, 4);
  append_number(entry.name.size(), 2);
  for (int i = 0; i < 2; ++i) append_number(0, 6);  // extra field, comment, volume, attributes
  append_number(entry.header, 4);
  append(entry.name);
}

void ArchiveWriter::finish() {
  const std::uint64_t directory = size_;
  for (const Entry& entry : entries_) append_entry(entry);
  const std::uint64_t length = size_ - directory;
  TITAN_CHECK(size_ < zip::kMost32, "an archive of ", size_, " bytes");
  append_number(zip::kEnd, 4);
  append_number(0, 4);  // volumes
  append_number(entries_.size(), 2);
  append_number(entries_.size(), 2);
  append_number(length, 4);
  append_number(directory, 4);
  append_number(0, 2);  // comment
}

std::string ArchiveWriter::take() { return std::exchange(out_, {}); }

}  // namespace titan::checkpoint
