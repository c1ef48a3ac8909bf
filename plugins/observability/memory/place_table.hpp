#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace titan::observability {

/// What a scope around the place says that its blocks are for.
enum class Purpose : std::uint8_t { unknown, communication, optimizer_state };
/// Of a RECORD_USER_SCOPE by its name: "communication::all_gather layers.0", "optimizer::state".
Purpose purpose_of(std::string_view scope);
/// The module that stands behind the name; empty: none.
std::string_view module_of(std::string_view scope);

/// Where a thread is when it makes or frees a block, as it is found there. Texts live as long as the run.
struct Where {
  const char* op = "";      // the operator that runs: "aten::mm"; empty: none
  const char* node = "";    // the autograd node whose backward runs; empty: none
  std::string_view module;  // fully qualified; empty: none
  std::int32_t phase = -1;  // TITAN_IN_*; -1: no rank's thread
  std::int64_t step = 0;
  Purpose purpose = Purpose::unknown;
};

/// A place in the program: a Where without its step.
struct Place {
  std::string op, node, module;
  std::int32_t phase = -1;
  Purpose purpose = Purpose::unknown;
};

/// Numbers for places, from 0; a place that comes again has its number. Known by where their texts lie, of
/// operators and nodes for good, of modules as long as the text there is the same.
class PlaceTable {
 public:
  std::uint32_t number(const Where& where);
  const Place& operator[](std::uint32_t number) const { return places_[number]; }
  std::size_t size() const { return places_.size(); }

 private:
  struct Key {
    const char *op, *node, *module;
    std::int32_t phase;
    Purpose purpose;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  std::unordered_map<Key, std::uint32_t, KeyHash> numbers_;
  std::vector<Place> places_;
};

}  // namespace titan::observability
