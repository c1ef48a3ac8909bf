#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/intrusive_ptr.h>

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "core/comm/shm/collective.hpp"
#include "core/comm/timed_work.hpp"

namespace titan::comm::shm {

/// A send or receive.
struct Parcel {
  at::Tensor tensor;
  std::int64_t tag = 0;
  c10::intrusive_ptr<TimedWork> work;

  std::uint64_t bytes() const { return tensor.nbytes(); }
  std::byte* data() const { return static_cast<std::byte*>(tensor.mutable_data_ptr()); }
};

/// What one rank sends to another. A receive and a send of one tag meet in the order in which they were made; different
/// tags do not wait for each other.
class Outgoing {
 public:
  Outgoing(Segment& segment, std::size_t me, std::size_t peer);

  void add(Parcel parcel) { sends_.push_back(std::move(parcel)); }
  /// Does what can be done now. False: nothing.
  bool advance();
  bool is_idle() const { return sends_.empty() && transfers_.empty(); }
  void fail(const std::string& text);

 private:
  struct Asked {
    std::uint64_t number;
    Request request;
  };
  struct Transfer {
    Asked asked;
    Parcel parcel;
    std::uint64_t num_sent = 0;
  };
  bool take_requests();
  bool match();
  bool write();

  Segment& segment_;
  std::size_t me_, peer_;
  Lane& lane_;
  bool is_reserved_ = false;
  std::deque<Parcel> sends_;  // not asked for yet
  std::deque<Asked> asked_;   // not sent yet
  std::deque<Transfer> transfers_;
};

/// What one rank receives from another.
class Incoming {
 public:
  Incoming(Segment& segment, std::size_t me, std::size_t peer);

  void add(Parcel parcel) { receives_.push_back(std::move(parcel)); }
  bool advance();
  bool is_idle() const { return receives_.empty() && requested_.empty(); }
  void fail(const std::string& text);

 private:
  struct Transfer {
    Parcel parcel;
    std::uint64_t num_received = 0;
  };
  bool request();
  bool read();

  Segment& segment_;
  std::size_t me_, peer_;
  Lane& lane_;
  std::uint64_t num_requested_ = 0;
  std::deque<Parcel> receives_;                  // not requested yet
  std::map<std::uint64_t, Transfer> requested_;  // by number
};

/// The sends and receives of one rank.
class Lanes {
 public:
  explicit Lanes(const Seat& seat);

  void send(std::size_t peer, Parcel parcel) { outgoing_[peer].add(std::move(parcel)); }
  void receive(std::size_t peer, Parcel parcel) { incoming_[peer].add(std::move(parcel)); }
  bool advance();
  bool is_idle() const;
  /// Positions with which something is under way.
  std::vector<std::size_t> awaited() const;
  /// Fails what is under way with that position.
  void fail(std::size_t peer, const std::string& text);

 private:
  std::size_t me_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
};

}  // namespace titan::comm::shm
