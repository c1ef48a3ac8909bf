#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_descriptor.hpp"
#include "core/base/stop.hpp"
#include "core/data/dataset_files.hpp"

namespace titan::data {

/// Bounds on what a data set may ask of memory.
struct CorpusLimits {
  std::uint64_t document_bytes = std::uint64_t{64} << 20U;
  std::uint64_t decompressed_bytes = std::uint64_t{1} << 30U;  // of all compressed files together: they stay in memory
};

/// The documents of a data set, by number. Knows where each begins (8 bytes a document) and reads plain files in place;
/// compressed files are held in memory. Used by one thread.
class Corpus {
 public:
  /// Reads all files once, to find the documents and the fingerprint. Errors as find_dataset_files, and DataError:
  /// a document or the decompressed text too large, a damaged gzip file. Interrupted when `stop` asks for it.
  explicit Corpus(const std::filesystem::path& path, const StopFlag* stop = nullptr, const CorpusLimits& limits = {});

  std::uint64_t num_documents() const { return num_documents_; }
  std::uint64_t num_files() const { return files_.size(); }
  /// Hash of the text of all files in order: neither names nor compression matter.
  const std::string& fingerprint() const { return fingerprint_; }

  /// Text of a document, valid UTF-8. DataError names file and line; InputError or IoError when the file cannot be read
  /// any more.
  std::string read(std::uint64_t document);

 private:
  struct File {
    DatasetFile source;
    std::uint64_t size = 0;            // of the text
    std::uint64_t first_document = 0;  // number of its first document
    std::vector<std::uint64_t> starts;
    std::string text;  // of a compressed file
  };
  struct OpenFile {
    std::size_t file = 0;
    std::uint64_t last_use = 0;
    FileDescriptor descriptor;
  };

  struct Scan;
  std::string scan(File& file, Scan& scan) const;
  std::string read_bytes(std::size_t file, std::uint64_t begin, std::uint64_t end);
  int descriptor_of(std::size_t file);
  std::uint64_t line_of(std::size_t file, std::uint64_t offset) const;

  std::vector<File> files_;
  std::uint64_t num_documents_ = 0;
  CorpusLimits limits_;
  std::string fingerprint_;
  std::vector<OpenFile> open_files_;
  std::uint64_t num_uses_ = 0;
};

}  // namespace titan::data
