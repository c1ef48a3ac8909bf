#include "core/data/corpus.hpp"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/base/hashing.hpp"
#include "core/data/document_index.hpp"
#include "core/data/gzip.hpp"
#include "core/data/json_line.hpp"

namespace titan::data {

namespace {

constexpr std::size_t kMaxOpenFiles = 64;

/// Hash of content that goes by in pieces of any size.
class ContentHash {
 public:
  ContentHash() { XXH3_64bits_reset(&state_); }
  void feed(std::string_view piece) { XXH3_64bits_update(&state_, piece.data(), piece.size()); }
  std::uint64_t result() const { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_;
};

std::string_view cut_line(std::string_view bytes) {
  bytes = bytes.substr(0, bytes.find('\n'));
  if (bytes.ends_with('\r')) bytes.remove_suffix(1);
  return bytes;
}

}  // namespace

/// What the files of one data set share while they are read for the first time.
struct Corpus::Scan {
  const StopFlag* stop = nullptr;
  std::uint64_t decompressed = 0;  // bytes so far
};

Corpus::Corpus(const std::filesystem::path& path, const StopFlag* stop, const CorpusLimits& limits) : limits_(limits) {
  Scan state{.stop = stop};
  std::string digests;
  for (DatasetFile& source : find_dataset_files(path)) {
    File file;
    file.source = std::move(source);
    file.first_document = num_documents_;
    digests += scan(file, state);
    num_documents_ += file.starts.size();
    files_.push_back(std::move(file));
  }
  if (num_documents_ == 0) throw InputError("[data] no document in the data set ", printable(path.string()));
  fingerprint_ = hash128(digests);
}

/// Fills in all but the source, and returns the size and hash of the content.
std::string Corpus::scan(File& file, Scan& state) const {
  using Split = DocumentIndexer::Split;
  const std::string name = file.source.path.string();
  const bool compressed = file.source.kind == FileKind::compressed_json_lines;
  const Split split = file.source.kind == FileKind::text ? Split::whole_file : Split::lines;
  DocumentIndexer indexer(name, split, limits_.document_bytes);
  ContentHash hash;
  const auto take = [&](std::string_view piece) {
    if (state.stop != nullptr) state.stop->check();
    indexer.feed(piece);
    hash.feed(piece);
    if (!compressed) return;
    if ((state.decompressed += piece.size()) > limits_.decompressed_bytes) {
      throw DataError("[data] ", printable(name), ": compressed files hold more text than is kept in memory: limit ",
                      limits_.decompressed_bytes, " bytes (decompress them: plain files are read in place)");
    }
    file.text += piece;
  };
  if (compressed) {
    gunzip_in_pieces(file.source.path, take);
  } else {
    read_file_in_pieces(file.source.path, take);
  }
  file.size = indexer.size();
  file.starts = indexer.finish();
  return concat(file.size, ' ', hash.result(), '\n');
}

std::string Corpus::read(std::uint64_t document) {
  const auto after =
      std::upper_bound(files_.begin(), files_.end(), document,
                       [](std::uint64_t number, const File& file) { return number < file.first_document; });
  const auto index = static_cast<std::size_t>(after - files_.begin()) - 1;
  const File& file = files_[index];
  const std::size_t entry = document - file.first_document;
  const std::uint64_t begin = file.starts[entry];
  const std::uint64_t end = entry + 1 < file.starts.size() ? file.starts[entry + 1] : file.size;
  const std::string bytes = read_bytes(index, begin, std::min(end, begin + limits_.document_bytes + 1));
  std::string_view content = bytes;
  if (begin == 0 && content.starts_with(kByteOrderMark)) content.remove_prefix(kByteOrderMark.size());
  const std::string name = printable(file.source.path.string());
  if (file.source.kind == FileKind::text) {
    const std::size_t invalid = invalid_utf8_at(content);
    if (invalid == std::string_view::npos) return std::string(content);
    throw DataError("[data] ", name, ": not UTF-8: at byte ", invalid + (bytes.size() - content.size()));
  }
  try {
    return text_of_json_line(cut_line(content));
  } catch (const std::invalid_argument& error) {
    throw DataError("[data] ", name, ":", line_of(index, begin), ": ", error.what());
  }
}

std::string Corpus::read_bytes(std::size_t index, std::uint64_t begin, std::uint64_t end) {
  const File& file = files_[index];
  if (file.source.kind == FileKind::compressed_json_lines) return file.text.substr(begin, end - begin);
  std::string bytes(end - begin, '\0');
  const int descriptor = descriptor_of(index);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = ::pread(descriptor, bytes.data() + done, bytes.size() - done, static_cast<off_t>(begin + done));
    if (got < 0 && errno == EINTR) continue;
    const std::string name = printable(file.source.path.string());
    if (got < 0) throw IoError("[data] cannot read ", name, ": ", std::strerror(errno));
    if (got == 0) throw DataError("[data] ", name, ": the file became shorter while it was in use");
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

/// Keeps the files that were used last open: opening costs a round trip on network file systems.
int Corpus::descriptor_of(std::size_t index) {
  ++num_uses_;
  for (OpenFile& open : open_files_) {
    if (open.file != index) continue;
    open.last_use = num_uses_;
    return open.descriptor.get();
  }
  const std::string path = files_[index].source.path.string();
  FileDescriptor descriptor = open_descriptor(path.c_str(), O_RDONLY);
  if (!descriptor.is_open()) throw InputError("[data] cannot open ", printable(path), ": ", std::strerror(errno));
  if (open_files_.size() >= kMaxOpenFiles) {
    open_files_.erase(std::min_element(open_files_.begin(), open_files_.end(),
                                       [](const OpenFile& a, const OpenFile& b) { return a.last_use < b.last_use; }));
  }
  open_files_.push_back({index, num_uses_, std::move(descriptor)});
  return open_files_.back().descriptor.get();
}

std::uint64_t Corpus::line_of(std::size_t index, std::uint64_t offset) const {
  const File& file = files_[index];
  std::uint64_t line = 1;
  std::uint64_t at = 0;
  const auto count = [&](std::string_view piece) {
    const std::string_view before = piece.substr(0, offset - std::min(at, offset));
    line += static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n'));
    at += piece.size();
  };
  if (file.source.kind == FileKind::compressed_json_lines) {
    count(file.text);
  } else {
    read_file_in_pieces(file.source.path, count);
  }
  return line;
}

}  // namespace titan::data
