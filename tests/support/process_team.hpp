#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/checkpoint/team.hpp"

namespace titan::test {

/// Connects ranks that are processes of one parent: made by the parent, joined by each child after fork(), and left by
/// the parent. When a process ends, the others' gather() throws a PeerError.
class ProcessTeam {
 public:
  explicit ProcessTeam(std::int64_t size);
  ~ProcessTeam() { leave(); }
  ProcessTeam(const ProcessTeam&) = delete;
  ProcessTeam& operator=(const ProcessTeam&) = delete;

  /// This process becomes a rank; once only.
  std::unique_ptr<checkpoint::Team> join(std::int64_t rank);
  /// This process is none of the ranks.
  void leave();

 private:
  // Rank 0's end of the connection to each other rank, and that rank's end.
  std::vector<std::array<int, 2>> connections_;
};

}  // namespace titan::test
