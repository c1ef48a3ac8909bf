#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace titan::launch {

/// Makes lines of bytes that come in pieces.
class LineSplitter {
 public:
  using Sink = std::function<void(std::string_view line)>;
  static constexpr std::size_t kLongestLine = 16 * 1024;

  /// Calls `sink` for each line that is whole now, without its newline and without a carriage return before that. A
  /// line is cut after kLongestLine bytes, and says so; what would follow in it is dropped.
  void add(std::string_view bytes, const Sink& sink);
  /// Calls `sink` for a last line without a newline.
  void finish(const Sink& sink);

 private:
  void keep(std::string_view part);
  void emit(const Sink& sink);

  std::string line_;
  std::size_t num_dropped_ = 0;
};

}  // namespace titan::launch
