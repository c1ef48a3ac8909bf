#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "titan/abi/observer.h"

namespace collective_counter {

/// The collectives of one rank during a stretch of its run, by group, operation and module.
class Counts {
 public:
  void add(const titan_collective_event& event);
  bool empty() const { return entries_.empty(); }
  void clear() { entries_.clear(); }

  /// By group and operation: "fsdp _allgather_base 15 (6.4 MiB), world all_reduce 2 (56 B)"; "none".
  std::string summary() const;
  /// By module too, as a JSON array of objects.
  std::string json() const;

 private:
  struct Key {
    std::string group, op, module;
    bool operator<(const Key& other) const {
      return std::tie(group, op, module) < std::tie(other.group, other.op, other.module);
    }
  };
  struct Entry {
    std::uint32_t group_size = 0;
    std::int64_t count = 0;
    std::int64_t num_failed = 0;
    std::int64_t bytes = 0;
    double seconds = 0;
  };

  static std::string json(const Key& key, const Entry& entry);

  std::map<Key, Entry> entries_;
};

/// A JSON text with its quotes.
std::string json_text(std::string_view text);

/// "56 B", "3.2 MiB".
std::string readable(std::int64_t bytes);

}  // namespace collective_counter
