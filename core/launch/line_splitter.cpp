#include "core/launch/line_splitter.hpp"

#include <algorithm>

#include "core/base/text.hpp"

namespace titan::launch {

void LineSplitter::add(std::string_view bytes, const Sink& sink) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    keep(bytes.substr(0, end));
    if (end == std::string_view::npos) return;
    emit(sink);
    bytes.remove_prefix(end + 1);
  }
}

void LineSplitter::finish(const Sink& sink) {
  if (!line_.empty()) emit(sink);
}

void LineSplitter::keep(std::string_view part) {
  const std::size_t kept = std::min(part.size(), kLongestLine - line_.size());
  line_ += part.substr(0, kept);
  num_dropped_ += part.size() - kept;
}

void LineSplitter::emit(const Sink& sink) {
  if (num_dropped_ > 0) line_ += concat(" ... (", num_dropped_, " more bytes)");
  if (line_.ends_with('\r')) line_.pop_back();
  sink(line_);
  line_.clear();
  num_dropped_ = 0;
}

}  // namespace titan::launch
