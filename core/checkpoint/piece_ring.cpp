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
  changed_.notify_all();
  thread_.join();
}

Piece* PieceRing::next() {
  std::unique_lock lock(mutex_);
  if (in_use_ != nullptr) {
    free_.push_back(std::exchange(in_use_, nullptr));
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return !full_.empty() || finished_; });
  if (full_.empty()) {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    return nullptr;
  }
  in_use_ = full_.front();
  full_.pop_front();
  return in_use_;
}

void PieceRing::run() {
  try {
    while (Piece* const piece = wait_for_free()) {
      if (!fill_(*piece)) break;
      const std::lock_guard lock(mutex_);
      full_.push_back(piece);
      changed_.notify_all();
    }
    finish(nullptr);
  } catch (...) {
    finish(std::current_exception());
  }
}

Piece* PieceRing::wait_for_free() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !free_.empty() || stopping_; });
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
  changed_.notify_all();
}

}  // namespace titan::checkpoint
