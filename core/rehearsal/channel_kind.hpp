#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/mesh.hpp"

namespace titan::rehearsal {

/// All channels of a layout that extend along the same axes: every rank is a member of exactly one of them. A rank's
/// place among the members is a number with one digit for each of these axes, so nothing is listed that can be counted.
class ChannelKind {
 public:
  /// By the name that core/comm gives one of these channels: "dp_shard+cp/pp1", "world", "self/pp0", "ep/from8".
  /// InternalError for a name that is none.
  ChannelKind(std::string_view channel, const config::Mesh& mesh);

  /// The axes of more than one rank: "dp_shard+cp"; "self": none.
  const std::string& axes() const { return axes_; }
  /// Number of members.
  std::int64_t size() const { return size_; }
  /// The lowest member of the rank's channel: channels of the kind are told apart by it.
  std::int64_t leader(std::int64_t rank) const;
  /// Where the rank stands among the members, which are in increasing order.
  std::int64_t position(std::int64_t rank) const;
  /// The member at a position of the rank's channel.
  std::int64_t member(std::int64_t rank, std::int64_t position) const;
  std::vector<std::int64_t> members(std::int64_t rank) const;
  /// The member that stands `steps` after the rank, around the end.
  std::int64_t neighbour(std::int64_t rank, std::int64_t steps) const;
  /// Brings steps to 0 ... size - 1.
  std::int64_t wrapped(std::int64_t steps) const { return ((steps % size_) + size_) % size_; }

 private:
  struct Digit {
    std::int64_t stride, degree;
  };
  void add(std::int64_t stride, std::int64_t degree);
  void add_axes(std::string_view head, const config::Mesh& mesh);

  std::string axes_;
  std::int64_t size_ = 1;
  std::vector<Digit> digits_;  // innermost first
};

}  // namespace titan::rehearsal
