#pragma once

#include <cstdint>

/// The records of a zip archive (PKWARE's APPNOTE.TXT, 4.3), as far as archives without compression have them.
namespace titan::checkpoint::zip {

inline constexpr std::uint32_t kHeader = 0x04034b50;      // before each record's content
inline constexpr std::uint32_t kDescriptor = 0x08074b50;  // behind it
inline constexpr std::uint32_t kEntry = 0x02014b50;       // of the directory
inline constexpr std::uint32_t kLargeEnd = 0x06064b50;    // zip64
inline constexpr std::uint32_t kLocator = 0x07064b50;     // says where that is
inline constexpr std::uint32_t kEnd = 0x06054b50;

// Bytes of each without names, extra fields and comments.
inline constexpr std::uint64_t kHeaderSize = 30, kEntrySize = 46, kLargeEndSize = 56, kLocatorSize = 20, kEndSize = 22;

inline constexpr std::uint64_t kMost16 = 0xffff, kMost32 = 0xffffffff;  // the number is elsewhere
inline constexpr std::uint64_t kLargeExtra = 1;                         // extra field with numbers of 64 bits
inline constexpr std::uint64_t kEncrypted = 1;                          // flags
inline constexpr std::uint64_t kHasDescriptor = 8, kUtf8 = 0x800;

}  // namespace titan::checkpoint::zip
