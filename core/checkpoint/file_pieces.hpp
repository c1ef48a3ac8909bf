#pragma once

#include <cstdint>
#include <vector>

#include "core/checkpoint/input_file.hpp"
#include "core/checkpoint/piece_ring.hpp"
#include "core/checkpoint/runs.hpp"

namespace titan::checkpoint {

/// Reads ranges of a file in order, piece by piece, on a thread of its own, past the page cache where the file system
/// can. Holds three pieces at most.
class FilePieces {
 public:
  /// Ranges begin and end at multiples of kDirectAlignment, or with the file, and are in order. A piece has
  /// `piece_size` bytes, a multiple of kDirectAlignment, or fewer: none goes beyond its range. The file outlives this.
  FilePieces(const InputFile& file, std::vector<FileRange> ranges, std::uint64_t piece_size);

  /// The next piece, or null after the last one; the former one is given back. DataError: the file ends before its
  /// range; IoError: reading failed.
  const Piece* next() { return ring_.next(); }

 private:
  bool fill(Piece& piece);
  void read(Piece& piece);
  void leave_direct();

  const InputFile& file_;
  std::vector<FileRange> ranges_;
  std::uint64_t piece_size_;
  std::size_t range_ = 0;
  std::uint64_t in_range_ = 0;
  bool is_direct_;
  PieceRing ring_;  // the last member: its thread uses the others
};

}  // namespace titan::checkpoint
