#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/checkpoint/hub/hub_plan.hpp"

namespace titan::checkpoint {

/// Writes files of an export one after the other, a piece at a time: a piece is read from the source, put into the
/// hub's order of rows, and appended.
class HubWriter {
 public:
  HubWriter(SystemCalls& calls, const Source& source, const std::filesystem::path& folder);

  /// Writes one file and syncs it. `written` is told the bytes of each piece.
  void write(const HubFile& file, const std::function<void(std::uint64_t bytes)>& written);

 private:
  /// Rows of one tensor, whole heads where pairs rotate.
  struct Piece {
    const HubTensor* tensor;
    std::int64_t begin, end;  // rows
    std::uint64_t bytes;
  };
  std::vector<Piece> pieces_of(const HubTensor& tensor) const;
  void read(std::span<const Piece> pieces);
  void reorder(std::span<const Piece> pieces);

  SystemCalls& calls_;
  const Source& source_;
  std::filesystem::path folder_;
  std::vector<std::byte> bytes_, rows_;
};

}  // namespace titan::checkpoint
