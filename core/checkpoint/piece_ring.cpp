#include "core/checkpoint/piece_ring.hpp"

#include <utility>

namespace titan::checkpoint {

PieceRing::PieceRing(std::size_t count, std::uint64_t bytes, Fill fill)
    : memory_(count * aligned_up(bytes)), pieces_(count), fill_(std::move(fill)) {
  for (std::size_t i = 0; i < count; ++i) {
    pieces_[i].memory = memory_.bytes().subspan(i * aligned_up(bytes), aligned_up(bytes));
    free_.push_back(&pieces_[i]);
  }
  thread_ = std::thread([this] { run(); });
}

PieceRing::~PieceRing() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  freed_.notify_one();
  thread_.join();
}

Piece* PieceRing::next() {
  give_back();
  std::unique_lock lock(mutex_);
  filled_.wait(lock, [&] { return !full_.empty() || finished_; });
  if (full_.empty()) {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    return nullptr;
  }
  in_use_ = full_.front();
  full_.pop_front();
  return in_use_;
}

// Waking a thread that would then wait for the mutex costs more than the hand-over: first unlock, then notify.
void PieceRing::give_back() {
  if (in_use_ == nullptr) return;
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::exchange(in_use_, nullptr));
  }
  freed_.notify_one();
}

void PieceRing::hand_over(Piece* piece) {
  {
    const std::lock_guard lock(mutex_);
    full_.push_back(piece);
  }
  filled_.notify_one();
}

void PieceRing::run() {
  try {
    while (Piece* const piece = wait_for_free()) {
      if (!fill_(*piece)) break;
      hand_over(piece);
    }
    finish(nullptr);
  } catch (...) {
    finish(std::current_exception());
  }
}

Piece* PieceRing::wait_for_free() {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [&] { return !free_.empty() || stopping_; });
  if (stopping_) return nullptr;
  Piece* const piece = free_.front();
  free_.pop_front();
  return piece;
}

void PieceRing::finish(std::exception_ptr failure) {
  {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    finished_ = true;
  }
  filled_.notify_one();
}

}  // namespace titan::checkpoint
