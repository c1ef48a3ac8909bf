#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/box.hpp"
#include "core/checkpoint/dtype.hpp"

namespace titan::checkpoint {

/// Bytes begin .. end of a file.
struct FileRange {
  std::uint64_t begin = 0, end = 0;

  friend bool operator==(const FileRange&, const FileRange&) = default;
};

/// The indices that both boxes hold; nothing when there are none. The boxes have the same number of dims.
std::optional<Box> intersection(const Box& a, const Box& b);

/// Elements that lie in two row-major boxes of one tensor, as runs that are contiguous in both. Positions and strides
/// in elements, from the begin of each box.
struct Runs {
  struct Dim {
    std::uint64_t count = 0, from_stride = 0, to_stride = 0;
  };
  std::uint64_t from = 0, to = 0;  // the first element
  std::uint64_t length = 1;        // of a run
  std::vector<Dim> dims;           // over the runs, outermost first

  /// One past the last element in the box that is copied from.
  std::uint64_t from_end() const;
};

/// Runs of `common`, a box that lies in both.
Runs runs_of(const Box& from, const Box& to, const Box& common);

/// Where the runs lie in a file, in order; runs with less than `gap` bytes between them are one range, or several that
/// touch. `begin` is that of the box they are copied from.
std::vector<FileRange> ranges_of(const Runs& runs, std::uint64_t begin, std::size_t element_size, std::uint64_t gap);

/// Copies runs out of a file's bytes, which come piece by piece, and converts them on the way.
class RunCopier {
 public:
  /// `begin`: of the stored box in the file. `to`: the memory of the wanted box.
  RunCopier(Runs runs, std::uint64_t begin, DType stored, std::byte* to, DType wanted);

  /// Copies what of the runs lies in these bytes of the file, which begin at `begin`. Pieces come in the file's order,
  /// and all that have bytes of the runs come.
  void copy(std::uint64_t begin, std::span<const std::byte> bytes);
  bool is_done() const { return is_done_; }

 private:
  void take(std::span<const std::byte> bytes);
  void convert_some(std::span<const std::byte> bytes);
  void next_run();

  Runs runs_;
  DType stored_, wanted_;
  std::uint64_t stored_size_, wanted_size_;
  std::uint64_t position_;   // in the file, of the run's begin
  std::byte* to_;            // the run's begin in memory
  std::uint64_t taken_ = 0;  // bytes of the run
  std::vector<std::uint64_t> at_;
  std::array<std::byte, 8> cut_{};  // the begin of an element whose rest is in the next piece
  bool is_done_ = false;
};

}  // namespace titan::checkpoint
