#include "core/checkpoint/file_pieces.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/error.hpp"
#include "core/checkpoint/disk.hpp"

namespace titan::checkpoint {

namespace {

constexpr std::size_t kPiecesUnderWay = 3;  // one is read, one is used, one waits

bool enter_direct(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && ::fcntl(descriptor, F_SETFL, flags | O_DIRECT) == 0;
}

std::uint64_t longest(const std::vector<FileRange>& ranges, std::uint64_t most) {
  std::uint64_t size = 0;
  for (const FileRange& range : ranges) size = std::max(size, range.end - range.begin);
  return std::min(size, most);
}

}  // namespace

FilePieces::FilePieces(const InputFile& file, std::vector<FileRange> ranges, std::uint64_t piece_size)
    : file_(file),
      ranges_(std::move(ranges)),
      piece_size_(piece_size),
      is_direct_(enter_direct(file.descriptor())),
      ring_(kPiecesUnderWay, longest(ranges_, piece_size), [this](Piece& piece) { return fill(piece); }) {}

bool FilePieces::fill(Piece& piece) {
  while (range_ < ranges_.size() && ranges_[range_].begin + in_range_ == ranges_[range_].end) {
    ++range_;
    in_range_ = 0;
  }
  if (range_ == ranges_.size()) return false;
  piece.begin = ranges_[range_].begin + in_range_;
  piece.size = std::min(piece_size_, ranges_[range_].end - piece.begin);
  read(piece);
  in_range_ += piece.size;
  return true;
}

void FilePieces::read(Piece& piece) {
  std::uint64_t done = 0;
  while (done < piece.size) {
    // Direct reads may go beyond the file's end, and must where it is not aligned.
    if (is_direct_ && done % kDirectAlignment != 0) leave_direct();
    const std::uint64_t left = (is_direct_ ? aligned_up(piece.size) : piece.size) - done;
    const ssize_t got = ::pread(file_.descriptor(), piece.memory.data() + done, std::min(left, kPieceSize),
                                static_cast<off_t>(piece.begin + done));
    if (got > 0) {
      done += std::min(static_cast<std::uint64_t>(got), piece.size - done);
    } else if (got == 0) {
      throw DataError("[checkpoint] file is shorter than expected: ", printable(file_.path().native()), ": ends at ",
                      piece.begin + done);
    } else if (errno == EINVAL && is_direct_) {
      leave_direct();  // a file system that takes the flag, and not the reads
    } else if (errno != EINTR) {
      throw IoError("[checkpoint] cannot read file: ", printable(file_.path().native()), ": ", reason_of(errno));
    }
  }
}

void FilePieces::leave_direct() {
  const int flags = ::fcntl(file_.descriptor(), F_GETFL);
  if (flags < 0 || ::fcntl(file_.descriptor(), F_SETFL, flags & ~O_DIRECT) != 0) {
    throw IoError("[checkpoint] cannot leave direct I/O: ", printable(file_.path().native()), ": ", reason_of(errno));
  }
  is_direct_ = false;
}

}  // namespace titan::checkpoint
