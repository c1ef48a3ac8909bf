#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/file_descriptor.hpp"
#include "core/comm/shm/layout.hpp"

namespace titan::comm::shm {

/// Memory that the ranks of a channel share. It has no name in any folder: whoever dies leaves nothing behind, and no
/// limit of /dev/shm counts. Accessors may be called by any thread.
class Segment {
 public:
  /// Makes one for so many ranks, all zero, with its memory reserved. std::system_error when there is none.
  static std::shared_ptr<Segment> create(std::size_t size);
  /// Opens the segment that another process of this machine offers. std::runtime_error says why it cannot.
  static std::shared_ptr<Segment> open(const std::string& offer, std::size_t size);

  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// What open() needs, in a word; good as long as this process has the segment.
  std::string offer() const;
  /// Says that this process is the rank at that position. std::system_error when that cannot be said.
  void claim(std::size_t position);
  /// Whether the process that claimed a position still has the segment: asks the kernel, which knows of every end.
  bool is_held(std::size_t position) const;
  /// Reserves the memory of a lane's chunks. std::system_error when there is none.
  void reserve_lane(std::size_t from, std::size_t to);

  std::size_t size() const { return geometry_.size; }
  RankState& state(std::size_t position) const;
  Lane& lane(std::size_t from, std::size_t to) const;
  CallHeader& header(std::size_t position, std::uint64_t round) const;
  /// For each position the bytes sent to it: behind the header.
  std::uint64_t* sent(std::size_t position, std::uint64_t round) const;
  std::byte* buffer(std::size_t position, std::uint64_t round) const;
  std::byte* chunk(std::size_t from, std::size_t to, std::uint64_t number) const;

 private:
  Segment(FileDescriptor file, std::size_t size);
  template <class T>
  T* at(std::size_t offset) const {
    return reinterpret_cast<T*>(memory_ + offset);
  }

  Geometry geometry_;
  FileDescriptor file_;
  std::byte* memory_ = nullptr;
};

}  // namespace titan::comm::shm
