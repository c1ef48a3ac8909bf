#include "core/data/document_index.hpp"

#include <utility>

#include "core/base/error.hpp"

namespace titan::data {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/// Says whether the part holds more than white space and the mark at the beginning of the file.
bool holds_text(std::string_view part, std::uint64_t offset) {
  for (std::size_t i = 0; i < part.size(); ++i) {
    const std::uint64_t at = offset + i;
    const bool mark = at < kByteOrderMark.size() && part[i] == kByteOrderMark[at];
    if (!mark && !is_blank(part[i])) return true;
  }
  return false;
}

}  // namespace

DocumentIndexer::DocumentIndexer(std::string name, Split split, std::uint64_t max_document_bytes)
    : name_(std::move(name)), split_(split), max_document_bytes_(max_document_bytes) {}

void DocumentIndexer::feed(std::string_view piece) {
  if (split_ == Split::whole_file) return feed_line_part(piece);
  while (!piece.empty()) {
    const std::size_t newline = piece.find('\n');
    feed_line_part(piece.substr(0, newline));
    if (newline == std::string_view::npos) return;
    end_document();
    document_start_ = ++offset_;
    ++line_;
    piece.remove_prefix(newline + 1);
  }
}

void DocumentIndexer::feed_line_part(std::string_view part) {
  has_text_ = has_text_ || holds_text(part, offset_);
  offset_ += part.size();
  if (has_text_ && offset_ - document_start_ > max_document_bytes_) {
    throw DataError("[data] ", printable(name_), ":", line_, ": document too long: limit ", max_document_bytes_,
                    " bytes");
  }
}

void DocumentIndexer::end_document() {
  if (has_text_) starts_.push_back(document_start_);
  has_text_ = false;
}

std::vector<std::uint64_t> DocumentIndexer::finish() {
  end_document();
  starts_.shrink_to_fit();
  return std::move(starts_);
}

}  // namespace titan::data
