#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/checkpoint/parts.hpp"
#include "core/checkpoint/runs.hpp"
#include "core/checkpoint/source.hpp"

namespace titan::checkpoint {

/// Which bytes of a source's files fill the wanted parts.
class ReadPlan {
 public:
  /// A stored part some of whose elements are wanted: an index of each, and the bytes between which these lie.
  struct Overlap {
    std::uint32_t wanted = 0, part = 0;
    FileRange bytes;
  };
  struct File {
    std::vector<Overlap> overlaps;  // by where they begin
    std::vector<FileRange> ranges;  // to be read: whole blocks, or what is near each other
  };

  /// Borrows both. DataError names file or tensor: parts that do not lie in their file or tensor, or do not cover what
  /// is wanted.
  ReadPlan(const Source& source, std::span<const WantedPart> wanted);

  /// One for each file of the source.
  const std::vector<File>& files() const { return files_; }
  /// Bytes of all ranges.
  std::uint64_t total() const { return total_; }
  RunCopier copier(const Overlap& overlap) const;

 private:
  void add_wanted(std::uint32_t index, std::vector<std::vector<FileRange>>& ranges);

  const Source& source_;
  std::span<const WantedPart> wanted_;
  std::vector<const StoredTensor*> tensors_;  // of each wanted part
  std::vector<File> files_;
  std::uint64_t total_ = 0;
};

/// Bytes of a stored part. DataError names the tensor: the part's box or bytes do not lie in its tensor or file.
std::uint64_t stored_bytes(const Source& source, const std::string& name, const StoredTensor& tensor,
                           const StoredPart& part);

}  // namespace titan::checkpoint
