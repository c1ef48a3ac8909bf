#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace titan::comm::shm {

// What the ranks of a channel share. Every counter is written by one rank alone, so nobody can leave a lock behind: a
// rank that dies or stops harms no data, its counters just stay where they are.
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

/// Processors fetch lines of 64 bytes in pairs.
constexpr std::size_t kLine = 128;

/// Collectives go in rounds, numbered through all calls of the channel. In each a rank has a buffer of its own, which
/// it has again kNumBuffers rounds later. What all ranks have in flight should stay in the processors' caches.
constexpr std::size_t kNumBuffers = 8;
constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

/// Sends from one rank to another go in chunks.
constexpr std::size_t kNumChunks = 4;
constexpr std::size_t kChunkBytes = std::size_t{128} << 10;
constexpr std::size_t kNumRequests = 64;

/// A rank's counters.
struct RankState {
  alignas(kLine) std::atomic<std::uint64_t> published;  // rounds whose buffer others may read
  std::atomic<std::uint64_t> combined;                  // rounds whose own part others may read, reduced
  alignas(kLine) std::atomic<std::uint64_t> consumed;   // rounds of which it needs nothing any more
  alignas(kLine) std::atomic<std::uint32_t> closed;     // it takes part no longer
  // Written by others, too:
  alignas(kLine) std::atomic<std::uint32_t> sleepers;  // its threads that sleep until the bell rings
  std::atomic<std::uint32_t> bell;
};

/// What must be equal over the ranks of a call. Written in its first round.
struct CallHeader {
  std::int32_t kind = 0, dtype = 0, reduce = 0, root = -1;
  std::uint64_t bytes = 0;  // of the tensor, or of a rank's part

  bool operator==(const CallHeader&) const = default;
};

/// A receive that waits for its data.
struct Request {
  std::int64_t tag;
  std::uint64_t bytes;
};

struct ChunkHeader {
  std::uint64_t request;  // the number of the receive that it belongs to, from 0
  std::uint64_t total;    // bytes that are sent in all
  std::uint64_t bytes;    // in this chunk
};

/// The way from one rank to another. What is sent is asked for first: so nothing has to wait behind data that its
/// receiver does not want yet.
struct Lane {
  // Of the receiver:
  alignas(kLine) std::atomic<std::uint64_t> num_requests;
  std::atomic<std::uint64_t> num_read;
  Request requests[kNumRequests];
  // Of the sender:
  alignas(kLine) std::atomic<std::uint64_t> num_taken;  // requests
  std::atomic<std::uint64_t> num_written;
  ChunkHeader chunks[kNumChunks];
};

constexpr std::size_t aligned(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Where things are in a segment of so many ranks.
struct Geometry {
  explicit constexpr Geometry(std::size_t num_ranks)
      : size(num_ranks),
        header_bytes(aligned(sizeof(CallHeader) + num_ranks * sizeof(std::uint64_t), kLine)),
        lanes_at(kPage + num_ranks * sizeof(RankState)),
        headers_at(lanes_at + num_ranks * num_ranks * sizeof(Lane)),
        buffers_at(aligned(headers_at + num_ranks * kNumBuffers * header_bytes, kPage)),
        chunks_at(buffers_at + num_ranks * kNumBuffers * kBufferBytes),
        total(chunks_at + num_ranks * num_ranks * kNumChunks * kChunkBytes) {}

  static constexpr std::size_t kPage = 4096;  // the first one has the segment's name
  std::size_t size, header_bytes;
  std::size_t lanes_at, headers_at, buffers_at;
  std::size_t chunks_at;  // memory from here on is reserved when a lane is first used
  std::size_t total;
};

}  // namespace titan::comm::shm
