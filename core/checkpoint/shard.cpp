#include "core/checkpoint/shard.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "core/base/error.hpp"
#include "core/checkpoint/aligned_memory.hpp"
#include "core/checkpoint/block_hashes.hpp"
#include "core/checkpoint/output_file.hpp"
#include "core/checkpoint/piece_ring.hpp"
#include "core/checkpoint/shard_bytes.hpp"

namespace titan::checkpoint {

namespace {

/// Pieces on their way from the tensors to the file: one is filled, one is written, one waits.
constexpr std::size_t kPiecesUnderWay = 3;
/// Bytes that are copied and then hashed at once: they stay in the processor's cache meanwhile.
constexpr std::uint64_t kStride = std::uint64_t{256} << 10U;

void write_piece(OutputFile& file, std::span<const std::byte> bytes, ByteCount* written) {
  file.write(bytes);
  if (written != nullptr) written->fetch_add(bytes.size(), std::memory_order_relaxed);
}

ShardReport report_of(const std::filesystem::path& path, std::uint64_t size, const BlockHashes& hashes) {
  ShardReport report;
  report.name = path.filename().string();
  report.size = size;
  report.hash = hashes.whole();
  report.block_size = block_size_for(size);
  report.block_hashes = hashes.blocks();
  return report;
}

/// Hashes bytes that do not change, on a thread of its own.
class Hashing {
 public:
  Hashing(std::span<const std::byte> bytes, std::uint64_t block_size)
      : hashes_(block_size), thread_([this, bytes] { run(bytes); }) {}
  ~Hashing() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }
  Hashing(const Hashing&) = delete;
  Hashing& operator=(const Hashing&) = delete;

  const BlockHashes& wait() {
    thread_.join();
    if (failure_ != nullptr) std::rethrow_exception(failure_);
    return hashes_;
  }

 private:
  void run(std::span<const std::byte> bytes) {
    try {
      while (!bytes.empty() && !stopping_) {
        const auto piece = bytes.first(std::min<std::uint64_t>(kPieceSize, bytes.size()));
        hashes_.update(piece);
        bytes = bytes.subspan(piece.size());
      }
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  BlockHashes hashes_;
  std::exception_ptr failure_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;  // the last member: it uses the others
};

/// Fills the next piece of the shard from the tensors, and hashes it.
bool fill_piece(const ShardLayout& layout, std::uint64_t begin, BlockHashes& hashes, Piece& piece) {
  piece.begin = begin;
  piece.size = std::min<std::uint64_t>(kPieceSize, layout.size - begin);
  for (std::uint64_t done = 0; done < piece.size; done += kStride) {
    const std::span<std::byte> some = piece.memory.subspan(done, std::min(kStride, piece.size - done));
    copy_shard_bytes(layout, begin + done, some);
    hashes.update(some);
  }
  return piece.size != 0;
}

}  // namespace

ShardReport write_shard(SystemCalls& calls, const std::filesystem::path& path, const ShardLayout& layout,
                        ByteCount* written) {
  OutputFile file(calls, path, layout.size);
  BlockHashes hashes(block_size_for(layout.size));
  std::uint64_t filled = 0;
  PieceRing ring(kPiecesUnderWay, std::min(kPieceSize, layout.size), [&](Piece& piece) {
    const bool has_more = fill_piece(layout, filled, hashes, piece);
    filled += piece.size;
    return has_more;
  });
  while (const Piece* const piece = ring.next()) write_piece(file, piece->memory.first(piece->size), written);
  file.finish();
  return report_of(path, layout.size, hashes);
}

ShardReport write_shard(SystemCalls& calls, const std::filesystem::path& path, const Staging& staging,
                        ByteCount* written) {
  const std::span<const std::byte> bytes = staging.bytes();
  OutputFile file(calls, path, bytes.size());
  Hashing hashing(bytes, block_size_for(bytes.size()));
  for (std::uint64_t at = 0; at < bytes.size(); at += kPieceSize) {
    write_piece(file, bytes.subspan(at, std::min<std::uint64_t>(kPieceSize, bytes.size() - at)), written);
  }
  file.finish();
  return report_of(path, bytes.size(), hashing.wait());
}

}  // namespace titan::checkpoint
