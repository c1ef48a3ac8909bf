#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/trace/dump.hpp"
#include "tests/faults/ranks.hpp"

namespace titan::cli {

/// What the ranks of one run wrote down, read strictly.
class DumpsOfRanks {
 public:
  /// Reads DUMP_FOLDER/comm_traces, in which every file must be a dump of its rank.
  explicit DumpsOfRanks(const std::filesystem::path& dump_folder);

  std::set<std::int64_t> ranks() const;
  /// "timeout"; empty where the rank has no dump.
  std::string cause(std::int64_t rank) const;
  std::string place(std::int64_t rank) const;
  std::string reason(std::int64_t rank) const;
  /// The calls that had not ended.
  std::vector<std::string> open_calls(std::int64_t rank) const;

 private:
  const trace::Dump* find(std::int64_t rank) const;

  trace::Dumps dumps_;
};

}  // namespace titan::cli
