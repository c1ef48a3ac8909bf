#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace titan::checkpoint {

/// What addresses, positions and sizes of direct I/O are multiples of.
inline constexpr std::uint64_t kDirectAlignment = 4096;
/// Bytes of one read or write of a large file.
inline constexpr std::uint64_t kPieceSize = std::uint64_t{4} << 20U;

inline std::uint64_t aligned_down(std::uint64_t position) { return position & ~(kDirectAlignment - 1); }
inline std::uint64_t aligned_up(std::uint64_t position) { return aligned_down(position + kDirectAlignment - 1); }

/// Memory of the system, aligned for direct I/O, in huge pages where it can be.
class AlignedMemory {
 public:
  /// ResourceError when the system does not give `size` bytes.
  explicit AlignedMemory(std::uint64_t size);
  ~AlignedMemory();
  AlignedMemory(AlignedMemory&& other) noexcept;
  AlignedMemory& operator=(AlignedMemory&&) = delete;

  /// Makes the system back every page now.
  void touch();
  std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace titan::checkpoint
