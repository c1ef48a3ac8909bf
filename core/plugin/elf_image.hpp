#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/plugin/byte_source.hpp"

namespace titan::plugin {

/// The frame of an ELF shared library for this machine: header and segments, all of them inside the file. The
/// constructor throws LoadProblem (76) with the reason; it reads a few hundred bytes whatever the file's size.
class ElfImage {
 public:
  /// Keeps a reference to `bytes`.
  explicit ElfImage(const ByteSource& bytes);

  const std::vector<Elf64_Phdr>& segments() const noexcept { return segments_; }
  /// The first segment of a type, or null.
  const Elf64_Phdr* segment(std::uint32_t type) const;

  /// Content of a segment as it is in the file; LoadProblem when it is larger than `limit` bytes.
  std::string content(const Elf64_Phdr& segment, std::uint64_t limit) const;
  /// `count` bytes at a virtual address, or nothing where no loaded segment holds them in the file.
  std::optional<std::string> at_address(std::uint64_t address, std::uint64_t count) const;
  /// Number of bytes the file holds from a virtual address to the end of its segment; 0: not in the file.
  std::uint64_t available(std::uint64_t address) const;
  /// True when a loaded segment covers the address in memory, zero-filled parts included.
  bool maps(std::uint64_t address, std::uint64_t count) const;

 private:
  void check_header();
  void read_segments();
  void check_segment(std::size_t index, const Elf64_Phdr& segment) const;
  void check_load_order() const;
  void check_sections() const;

  const ByteSource& bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
};

}  // namespace titan::plugin
