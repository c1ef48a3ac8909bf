#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "core/comm/group.hpp"
#include "core/comm/shm/segment.hpp"

namespace titan::comm::shm {

/// A channel's segment, as one of its ranks sees it.
struct Seat {
  std::shared_ptr<Segment> segment;
  std::size_t position = 0;
  std::uint64_t next_round = 0;  // of the next call

  std::size_t size() const { return segment->size(); }
  RankState& state() const { return segment->state(position); }
};

/// One rank's part in a call of all. Every round has these steps, each done when the other ranks let it: the rank
/// publishes something in its buffer; reduces its own part of what all have published and puts it there too (where
/// `is_combined`); and collects what it gets from the others' buffers. Rounds overlap by as many as there are buffers.
class Collective {
 public:
  virtual ~Collective() = default;
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  /// Does one step, if one can be done. False: it waits for others. PeerError: they have made another call.
  bool advance();
  bool is_done() const { return is_known_ && num_collected_ == num_rounds_ && num_published_ == num_rounds_; }
  /// Whether the others have all that they need of this rank.
  bool is_published() const {
    return is_known_ && num_published_ == num_rounds_ && (!is_combined_ || num_combined_ == num_rounds_);
  }
  /// Positions that it waits for.
  std::vector<std::size_t> awaited() const;
  /// Bytes that pass through this rank's buffers: how long it may take.
  virtual std::uint64_t bytes() const { return header_.bytes; }

 protected:
  Collective(Seat& seat, CallHeader header, bool is_combined);

  std::size_t size() const { return seat_.size(); }
  std::size_t me() const { return seat_.position; }
  std::byte* buffer(std::size_t position, std::uint64_t round) const;
  const std::uint64_t* sent(std::size_t position) const { return seat_.segment->sent(position, first_round_); }
  void set_num_rounds(std::uint64_t count) { num_rounds_ = count; }

  virtual void publish(std::uint64_t /*round*/) {}
  virtual void combine(std::uint64_t /*round*/) {}
  virtual void collect(std::uint64_t /*round*/) {}
  /// Whether it reads what that position publishes.
  virtual bool reads(std::size_t /*position*/) const { return true; }
  /// Called before the first round is published: writes what stands behind the header.
  virtual void describe(std::uint64_t* /*sent*/) const {}
  /// Called when all headers of those that are read are there and equal.
  virtual void agree() {}
  /// The number of rounds is found out by agree(); until then so many may be published.
  void find_out_rounds(std::uint64_t at_least) {
    is_known_ = false;
    num_rounds_ = at_least;
  }

 private:
  bool try_publish();
  bool try_combine();
  bool try_collect();
  bool has_begun();
  void check_headers();
  template <class Counter>
  bool all_reach(Counter counter, std::uint64_t value) const;
  void tell(std::atomic<std::uint64_t>& counter, std::uint64_t value);

  Seat& seat_;
  CallHeader header_;
  bool is_combined_, is_known_ = true, is_checked_ = false, is_begun_ = false;
  std::uint64_t first_round_ = 0, num_rounds_ = 1;
  std::uint64_t num_published_ = 0, num_combined_ = 0, num_collected_ = 0;
};
using CollectivePtr = std::unique_ptr<Collective>;

/// The calls, with tensors as Group's have them, contiguous and on the CPU; they live as long as the call.
CollectivePtr all_reduce(Seat& seat, const at::Tensor& tensor, Reduce op);
CollectivePtr all_gather(Seat& seat, const at::Tensor& out, const at::Tensor& in);
CollectivePtr reduce_scatter(Seat& seat, const at::Tensor& out, const at::Tensor& in, Reduce op);
/// Empty rows: equal parts.
CollectivePtr all_to_all(Seat& seat, const at::Tensor& out, const at::Tensor& in,
                         const std::vector<std::int64_t>& out_rows, const std::vector<std::int64_t>& in_rows);
CollectivePtr broadcast(Seat& seat, const at::Tensor& tensor, std::size_t root);
CollectivePtr barrier(Seat& seat);

}  // namespace titan::comm::shm
