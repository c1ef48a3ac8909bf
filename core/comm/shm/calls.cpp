#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/base/error.hpp"
#include "core/comm/shm/collective.hpp"
#include "core/comm/shm/combine.hpp"

namespace titan::comm::shm {
namespace {

enum Kind : std::int32_t { kAllReduce, kAllGather, kReduceScatter, kAllToAll, kBroadcast, kBarrier };

// Up to here every rank reduces everything itself: that takes one exchange instead of two. In all, over the ranks.
constexpr std::uint64_t kMostReducedByAll = std::uint64_t{128} << 10;

std::uint64_t rounds_of(std::uint64_t bytes, std::uint64_t step) {
  return std::max<std::uint64_t>(1, (bytes + step - 1) / step);
}

CallHeader header_of(Kind kind, const at::Tensor& tensor, std::uint64_t bytes, Reduce op = Reduce::sum,
                     std::int32_t root = -1) {
  return {kind, static_cast<std::int32_t>(tensor.scalar_type()), static_cast<std::int32_t>(op), root, bytes};
}

void copy_bytes(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
}

/// The bytes of a tensor, in rounds of `step`.
class Rounds {
 public:
  Rounds(std::uint64_t bytes, std::uint64_t step) : bytes_(bytes), step_(step) {}
  std::uint64_t begin(std::uint64_t round) const { return std::min(bytes_, round * step_); }
  std::uint64_t count(std::uint64_t round) const { return begin(round + 1) - begin(round); }

 private:
  std::uint64_t bytes_, step_;
};

class Barrier : public Collective {
 public:
  explicit Barrier(Seat& seat) : Collective(seat, {kBarrier, 0, 0, -1, 0}, false) {}
};

/// A reduction, with its arrays.
class Reduction : public Collective {
 protected:
  Reduction(Seat& seat, Kind kind, const at::Tensor& out, const at::Tensor& in, Reduce op, bool is_combined)
      : Collective(seat, header_of(kind, out, out.nbytes(), op), is_combined),
        out_(out),
        in_(in),
        op_(op),
        unit_(out.element_size()),
        to_(static_cast<std::byte*>(out.mutable_data_ptr())),
        from_(static_cast<const std::byte*>(in.const_data_ptr())) {}

  /// Reduces what is at parts_, by position.
  void reduce_to(std::byte* out, std::uint64_t bytes) {
    if (bytes == 0) return;
    shm::combine(out, parts_, static_cast<std::int64_t>(bytes / unit_), out_.scalar_type(), op_);
  }

  at::Tensor out_, in_;
  Reduce op_;
  std::uint64_t unit_;
  std::byte* to_;
  const std::byte* from_;
  std::vector<const std::byte*> parts_;
};

/// Every rank publishes all it has and reduces everything.
class SmallAllReduce : public Reduction {
 public:
  SmallAllReduce(Seat& seat, const at::Tensor& tensor, Reduce op)
      : Reduction(seat, kAllReduce, tensor, tensor, op, false) {}

  void publish(std::uint64_t round) override { copy_bytes(buffer(me(), round), from_, in_.nbytes()); }
  void collect(std::uint64_t round) override {
    for (std::size_t peer = 0; peer < size(); ++peer) parts_.push_back(peer == me() ? from_ : buffer(peer, round));
    reduce_to(to_, in_.nbytes());
  }
};

/// Every rank reduces its part of each round, and collects the others' parts.
class LargeAllReduce : public Reduction {
 public:
  LargeAllReduce(Seat& seat, const at::Tensor& tensor, Reduce op)
      : Reduction(seat, kAllReduce, tensor, tensor, op, true), rounds_(tensor.nbytes(), kBufferBytes) {
    set_num_rounds(rounds_of(tensor.nbytes(), kBufferBytes));
  }

  void publish(std::uint64_t round) override {
    for (std::size_t peer = 0; peer < size(); ++peer) {
      if (peer == me()) continue;
      const Part part = part_of(peer, round);
      copy_bytes(buffer(me(), round) + part.begin, from_ + rounds_.begin(round) + part.begin, part.bytes);
    }
  }
  void combine(std::uint64_t round) override {
    const Part part = part_of(me(), round);
    std::byte* const own = to_ + rounds_.begin(round) + part.begin;
    parts_.clear();
    for (std::size_t peer = 0; peer < size(); ++peer) {
      parts_.push_back(peer == me() ? own : buffer(peer, round) + part.begin);
    }
    reduce_to(buffer(me(), round) + part.begin, part.bytes);
    copy_bytes(own, buffer(me(), round) + part.begin, part.bytes);
  }
  void collect(std::uint64_t round) override {
    for (std::size_t peer = 0; peer < size(); ++peer) {
      if (peer == me()) continue;
      const Part part = part_of(peer, round);
      copy_bytes(to_ + rounds_.begin(round) + part.begin, buffer(peer, round) + part.begin, part.bytes);
    }
  }

 private:
  struct Part {
    std::uint64_t begin, bytes;
  };
  Part part_of(std::size_t position, std::uint64_t round) const {
    const std::uint64_t count = rounds_.count(round);
    const std::uint64_t step = aligned((count + size() - 1) / size(), 64);
    const std::uint64_t begin = std::min(count, position * step);
    return {begin, std::min(count, begin + step) - begin};
  }

  Rounds rounds_;
};

/// Bytes of each of the other positions' parts in a buffer.
std::uint64_t step_between(const Seat& seat) { return kBufferBytes / (seat.size() - 1) / 64 * 64; }

/// Where the part of a position is in the buffer of another one, which has none of its own there.
std::uint64_t place_of(std::size_t position, std::size_t owner, std::uint64_t step) {
  return (position < owner ? position : position - 1) * step;
}

class ReduceScatter : public Reduction {
 public:
  ReduceScatter(Seat& seat, const at::Tensor& out, const at::Tensor& in, Reduce op)
      : Reduction(seat, kReduceScatter, out, in, op, false), step_(step_between(seat)), rounds_(out.nbytes(), step_) {
    set_num_rounds(rounds_of(out.nbytes(), step_));
  }

  std::uint64_t bytes() const override { return in_.nbytes(); }
  void publish(std::uint64_t round) override {
    for (std::size_t peer = 0; peer < size(); ++peer) {
      if (peer == me()) continue;
      copy_bytes(buffer(me(), round) + place_of(peer, me(), step_), from_ + peer * out_.nbytes() + rounds_.begin(round),
                 rounds_.count(round));
    }
  }
  void collect(std::uint64_t round) override {
    parts_.clear();
    for (std::size_t peer = 0; peer < size(); ++peer) {
      parts_.push_back(peer == me() ? from_ + me() * out_.nbytes() + rounds_.begin(round)
                                    : buffer(peer, round) + place_of(me(), peer, step_));
    }
    reduce_to(to_ + rounds_.begin(round), rounds_.count(round));
  }

 private:
  std::uint64_t step_;
  Rounds rounds_;
};

class AllGather : public Collective {
 public:
  AllGather(Seat& seat, const at::Tensor& out, const at::Tensor& in)
      : Collective(seat, header_of(kAllGather, in, in.nbytes()), false),
        out_(out),
        in_(in),
        rounds_(in.nbytes(), kBufferBytes),
        to_(static_cast<std::byte*>(out.mutable_data_ptr())),
        from_(static_cast<const std::byte*>(in.const_data_ptr())) {
    set_num_rounds(rounds_of(in.nbytes(), kBufferBytes));
  }

  std::uint64_t bytes() const override { return out_.nbytes(); }
  void publish(std::uint64_t round) override {
    const std::byte* const part = from_ + rounds_.begin(round);
    copy_bytes(buffer(me(), round), part, rounds_.count(round));
    copy_bytes(to_ + me() * in_.nbytes() + rounds_.begin(round), part, rounds_.count(round));
  }
  void collect(std::uint64_t round) override {
    for (std::size_t peer = 0; peer < size(); ++peer) {
      if (peer == me()) continue;
      copy_bytes(to_ + peer * in_.nbytes() + rounds_.begin(round), buffer(peer, round), rounds_.count(round));
    }
  }

 private:
  at::Tensor out_, in_;
  Rounds rounds_;
  std::byte* to_;
  const std::byte* from_;
};

class Broadcast : public Collective {
 public:
  Broadcast(Seat& seat, const at::Tensor& tensor, std::size_t root)
      : Collective(seat, header_of(kBroadcast, tensor, tensor.nbytes(), Reduce::sum, static_cast<std::int32_t>(root)),
                   false),
        tensor_(tensor),
        rounds_(tensor.nbytes(), kBufferBytes),
        root_(root) {
    set_num_rounds(rounds_of(tensor.nbytes(), kBufferBytes));
  }

  void publish(std::uint64_t round) override {
    if (me() == root_) copy_bytes(buffer(me(), round), data() + rounds_.begin(round), rounds_.count(round));
  }
  void collect(std::uint64_t round) override {
    if (me() != root_) copy_bytes(data() + rounds_.begin(round), buffer(root_, round), rounds_.count(round));
  }
  bool reads(std::size_t position) const override { return position == root_; }

 private:
  std::byte* data() const { return static_cast<std::byte*>(tensor_.mutable_data_ptr()); }

  at::Tensor tensor_;
  Rounds rounds_;
  std::size_t root_;
};

/// Where each position's rows begin, and where the last ones end, in bytes.
std::vector<std::uint64_t> row_places(const at::Tensor& tensor, const std::vector<std::int64_t>& rows,
                                      std::size_t size) {
  const auto all = tensor.dim() > 0 ? tensor.size(0) : 0;
  const std::uint64_t row = all > 0 ? tensor.nbytes() / static_cast<std::uint64_t>(all) : 0;
  std::vector<std::uint64_t> places(size + 1, 0);
  for (std::size_t i = 0; i < size; ++i) {
    const auto count = rows.empty() ? static_cast<std::uint64_t>(all) / size : static_cast<std::uint64_t>(rows[i]);
    places[i + 1] = places[i] + count * row;
  }
  return places;
}

/// Ranks do not know how much the others send each other: the headers tell, and the rounds end with the last of them.
class AllToAll : public Collective {
 public:
  AllToAll(Seat& seat, const at::Tensor& out, const at::Tensor& in, const std::vector<std::int64_t>& out_rows,
           const std::vector<std::int64_t>& in_rows)
      : Collective(seat, header_of(kAllToAll, in, 0), false),
        out_(out),
        in_(in),
        step_(step_between(seat)),
        out_places_(row_places(out, out_rows, seat.size())),
        in_places_(row_places(in, in_rows, seat.size())),
        to_(static_cast<std::byte*>(out.mutable_data_ptr())),
        from_(static_cast<const std::byte*>(in.const_data_ptr())) {
    std::uint64_t most = 0;
    for (std::size_t peer = 0; peer < size(); ++peer) {
      if (peer != me()) most = std::max(most, bytes_at(in_places_, peer));
    }
    find_out_rounds(rounds_of(most, step_));
  }

  std::uint64_t bytes() const override { return in_.nbytes() + out_.nbytes(); }
  void describe(std::uint64_t* sent) const override {
    for (std::size_t peer = 0; peer < size(); ++peer) sent[peer] = bytes_at(in_places_, peer);
  }
  void agree() override {
    std::uint64_t most = 0;
    for (std::size_t from = 0; from < size(); ++from) {
      for (std::size_t to = 0; to < size(); ++to) {
        if (from != to) most = std::max(most, sent(from)[to]);
      }
      const std::uint64_t expected = bytes_at(out_places_, from);
      if (sent(from)[me()] == expected) continue;
      throw PeerError("rows do not match: position ", from, " sends ", sent(from)[me()], " bytes to position ", me(),
                      ", which expects ", expected);
    }
    set_num_rounds(rounds_of(most, step_));
  }
  void publish(std::uint64_t round) override {
    if (round == 0) copy_bytes(to_ + out_places_[me()], from_ + in_places_[me()], own_bytes());
    for (std::size_t peer = 0; peer < size(); ++peer) {
      if (peer == me()) continue;
      const Rounds rounds(bytes_at(in_places_, peer), step_);
      copy_bytes(buffer(me(), round) + place_of(peer, me(), step_), from_ + in_places_[peer] + rounds.begin(round),
                 rounds.count(round));
    }
  }
  void collect(std::uint64_t round) override {
    for (std::size_t peer = 0; peer < size(); ++peer) {
      if (peer == me()) continue;
      const Rounds rounds(bytes_at(out_places_, peer), step_);
      copy_bytes(to_ + out_places_[peer] + rounds.begin(round), buffer(peer, round) + place_of(me(), peer, step_),
                 rounds.count(round));
    }
  }

 private:
  static std::uint64_t bytes_at(const std::vector<std::uint64_t>& places, std::size_t position) {
    return places[position + 1] - places[position];
  }
  /// What stays here; when the counts differ, agree() refuses the call.
  std::uint64_t own_bytes() const { return std::min(bytes_at(in_places_, me()), bytes_at(out_places_, me())); }

  at::Tensor out_, in_;
  std::uint64_t step_;
  std::vector<std::uint64_t> out_places_, in_places_;
  std::byte* to_;
  const std::byte* from_;
};

}  // namespace

CollectivePtr all_reduce(Seat& seat, const at::Tensor& tensor, Reduce op) {
  if (tensor.nbytes() * seat.size() <= kMostReducedByAll) return std::make_unique<SmallAllReduce>(seat, tensor, op);
  return std::make_unique<LargeAllReduce>(seat, tensor, op);
}

CollectivePtr all_gather(Seat& seat, const at::Tensor& out, const at::Tensor& in) {
  return std::make_unique<AllGather>(seat, out, in);
}

CollectivePtr reduce_scatter(Seat& seat, const at::Tensor& out, const at::Tensor& in, Reduce op) {
  return std::make_unique<ReduceScatter>(seat, out, in, op);
}

CollectivePtr all_to_all(Seat& seat, const at::Tensor& out, const at::Tensor& in,
                         const std::vector<std::int64_t>& out_rows, const std::vector<std::int64_t>& in_rows) {
  return std::make_unique<AllToAll>(seat, out, in, out_rows, in_rows);
}

CollectivePtr broadcast(Seat& seat, const at::Tensor& tensor, std::size_t root) {
  return std::make_unique<Broadcast>(seat, tensor, root);
}

CollectivePtr barrier(Seat& seat) { return std::make_unique<Barrier>(seat); }

}  // namespace titan::comm::shm
