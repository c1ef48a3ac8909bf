#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "core/checkpoint/aligned_memory.hpp"

namespace titan::checkpoint {

/// Bytes of a file on their way from one thread to another.
struct Piece {
  std::span<std::byte> memory;  // aligned for direct I/O
  std::uint64_t begin = 0;      // in the file
  std::uint64_t size = 0;       // bytes of `memory` that count
};

/// Runs `fill` on a thread of its own for one piece after the other, and hands the pieces to the owner in that order,
/// so that filling and using them overlap. Memory is bounded by `count` pieces.
class PieceRing {
 public:
  /// Fills a piece and returns true, or returns false when there are no more. [the ring's thread]
  using Fill = std::function<bool(Piece&)>;

  PieceRing(std::size_t count, std::uint64_t bytes, Fill fill);
  /// Stops filling, and waits for the thread.
  ~PieceRing();
  PieceRing(const PieceRing&) = delete;
  PieceRing& operator=(const PieceRing&) = delete;

  /// The next piece, or null after the last one. Throws what `fill` threw. The former one is given back.
  Piece* next();

 private:
  void run();
  Piece* wait_for_free();
  void hand_over(Piece* piece);
  void give_back();
  void finish(std::exception_ptr failure);

  AlignedMemory memory_;
  std::vector<Piece> pieces_;
  Fill fill_;
  std::mutex mutex_;
  std::condition_variable freed_, filled_;
  std::deque<Piece*> free_, full_;
  Piece* in_use_ = nullptr;
  bool stopping_ = false, finished_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace titan::checkpoint
