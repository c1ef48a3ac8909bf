#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace titan::data {

/// Finds where the documents of one file begin, while its content goes by.
class DocumentIndexer {
 public:
  enum class Split { lines, whole_file };

  /// A document longer than `max_document_bytes` is refused; `name` is the file's in errors.
  DocumentIndexer(std::string name, Split split, std::uint64_t max_document_bytes);

  /// Takes the next part of the file. DataError when a document is too long.
  void feed(std::string_view piece);
  /// Takes the end of the file and gives the offsets of the documents: lines, or the file, with more than white space.
  std::vector<std::uint64_t> finish();

  /// Bytes seen.
  std::uint64_t size() const { return offset_; }

 private:
  void feed_line_part(std::string_view part);
  void end_document();

  std::string name_;
  Split split_;
  std::uint64_t max_document_bytes_;
  std::vector<std::uint64_t> starts_;
  std::uint64_t offset_ = 0;
  std::uint64_t document_start_ = 0;
  std::uint64_t line_ = 1;
  bool has_text_ = false;
};

/// The mark that some editors put at the beginning of a file.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace titan::data
