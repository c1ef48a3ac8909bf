#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/file_descriptor.hpp"
#include "core/launch/console.hpp"
#include "core/launch/launch_options.hpp"
#include "core/launch/line_splitter.hpp"

namespace titan::launch {

/// The last lines of a rank, whatever stream they came from.
class LastLines {
 public:
  static constexpr std::size_t kMost = 20;

  void add(std::string_view line);
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  std::deque<std::string> lines_;
};

/// Takes what one rank writes to one of its streams: every byte to a file, whole lines to the console, and the last
/// ones are kept.
class RankStream {
 public:
  /// `file`: where the bytes go; an empty path for nowhere. `console` null: lines are not shown. CreateError when the
  /// file cannot be opened or is no regular file, TrustError when it is a symbolic link;
  /// ResourceError: too many files are open.
  RankStream(std::filesystem::path file, std::string prefix, Console* console, LastLines& last);

  /// Takes the reading end of the rank's pipe, which does not block.
  void attach(FileDescriptor pipe) { pipe_ = std::move(pipe); }
  /// -1 when the stream has ended.
  int descriptor() const { return pipe_.get(); }
  /// Reads once. False when there is nothing to read now, or ever.
  bool read_some();
  /// Reads what is there, and takes a last line without a newline; then the stream has ended.
  void finish();

  /// What went wrong with the file since the last call, for people; mostly empty.
  std::string take_problem();

 private:
  void take(std::string_view bytes);
  void show(std::string_view line);
  void end();

  std::filesystem::path path_;
  std::string prefix_;
  Console* console_;
  LastLines& last_;
  FileDescriptor pipe_;
  FileDescriptor file_;
  LineSplitter splitter_;
  std::string problem_;
};

}  // namespace titan::launch
