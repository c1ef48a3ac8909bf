#include "core/launch/rank_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace titan::launch {
namespace {

// What a process of the rank's that lives on may still write is not waited for.
constexpr std::size_t kMostReadsAtTheEnd = 1024;

std::string reason(int error) { return std::generic_category().message(error); }

/// Without waiting for the reader that a FIFO of that name would need.
FileDescriptor open_log(const std::filesystem::path& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
  FileDescriptor file = open_descriptor(path.c_str(), kFlags, 0600);
  if (!file.is_open() && errno == ELOOP) {
    throw TrustError("[launch] log file is a symbolic link: ", printable(path.native()));
  }
  const int error = file.is_open() ? 0 : errno;
  struct stat found = {};
  if (error == ENXIO || (error == 0 && (::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode)))) {
    throw CreateError("[launch] log file is no regular file: ", printable(path.native()),
                      ": remove it, or name another folder with --log-dir");
  }
  if (error == EMFILE || error == ENFILE) {
    throw ResourceError("[launch] too many open files for the ranks' logs: ", printable(path.native()), ": ",
                        reason(error), "; raise the limit (ulimit -n)");
  }
  if (error != 0) throw CreateError("[launch] cannot open log file: ", printable(path.native()), ": ", reason(error));
  return file;
}

}  // namespace

void LastLines::add(std::string_view line) {
  lines_.emplace_back(line);
  if (lines_.size() > kMost) lines_.pop_front();
}

RankStream::RankStream(std::filesystem::path file, std::string prefix, Console* console, LastLines& last)
    : path_(std::move(file)), prefix_(std::move(prefix)), console_(console), last_(last) {
  if (!path_.empty()) file_ = open_log(path_);
}

bool RankStream::read_some() {
  if (!pipe_.is_open()) return false;
  std::array<char, 1U << 16U> buffer;
  const ssize_t got = ::read(pipe_.get(), buffer.data(), buffer.size());
  if (got > 0) take({buffer.data(), static_cast<std::size_t>(got)});
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) end();
  return got > 0;
}

void RankStream::finish() {
  for (std::size_t reads = 0; reads < kMostReadsAtTheEnd && read_some(); ++reads) continue;
  end();
}

std::string RankStream::take_problem() { return std::exchange(problem_, {}); }

void RankStream::take(std::string_view bytes) {
  if (file_.is_open()) {
    if (const int error = write_all(file_.get(), bytes); error != 0) {
      problem_ =
          concat("cannot write ", printable(path_.native()), ": ", reason(error), "; the rest is not in that file");
      file_ = FileDescriptor();
    }
  }
  splitter_.add(bytes, [this](std::string_view line) { show(line); });
}

void RankStream::show(std::string_view line) {
  last_.add(line);
  if (console_ != nullptr) console_->add_line(prefix_, line);
}

void RankStream::end() {
  splitter_.finish([this](std::string_view line) { show(line); });
  pipe_ = FileDescriptor();
}

}  // namespace titan::launch
