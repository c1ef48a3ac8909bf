#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/trace/snapshot.hpp"

namespace titan::trace {

/// Bytes and blocks that have something in common.
struct MemoryGroup {
  std::string name;
  std::int64_t bytes = 0, blocks = 0;
};

/// A block of a live set, for a person.
struct NamedBlock {
  std::int64_t bytes = 0;
  std::string kind, name, site;
};

/// Blocks that were alive at one moment, the largest groups first.
struct LiveSet {
  std::int64_t bytes = 0, blocks = 0;
  std::vector<MemoryGroup> kinds, modules, ops;
  std::vector<NamedBlock> largest;
};

/// What one step allocated, and what of it is alive at the end.
struct StepGrowth {
  std::int64_t step = 0, allocated = 0, alive = 0, alive_blocks = 0;
};

/// A place whose blocks of several steps are alive at the end.
struct LeakSuspect {
  std::string site;
  std::int64_t bytes = 0, blocks = 0, steps = 0;
};

struct OutOfMemory {
  std::int64_t asked = 0, device_free = 0, time_us = 0;
  std::string site;
};

/// Live bytes over time, cut into intervals; in each the moment when most was alive.
struct MemoryTimeline {
  std::vector<std::int64_t> time_us, bytes;
  std::vector<std::string> bands;                 // kinds; the last one is all others
  std::vector<std::vector<std::int64_t>> stacks;  // of each band its bytes, as long as `bytes`
};

struct DeviceSummary {
  std::size_t device = 0;
  std::int64_t reserved = 0;
  std::size_t num_events = 0, num_allocations = 0;
  std::int64_t begin_us = 0, end_us = 0;
  std::int64_t before_bytes = 0;  // alive before the first event
  std::int64_t peak_us = 0;
  std::size_t peak_event = 0;  // number of the event that made the peak; 0: none did
  std::string peak_site;
  LiveSet peak, end;
  MemoryTimeline timeline;
  std::vector<StepGrowth> steps;  // empty when stacks name no steps
  std::vector<LeakSuspect> suspects;
  std::vector<OutOfMemory> failures;
};

/// What a timeline's bands are.
enum class BandsBy { kind, module, op };

struct SummaryRequest {
  std::size_t top = 10;  // groups and blocks of a list
  BandsBy bands = BandsBy::kind;
};

/// Summarises each device that holds or did anything. A block is alive from its allocation until its free is complete;
/// those that were alive before the first event count. DataError names `source`: sizes that add up to more than any
/// memory.
std::vector<DeviceSummary> summarise(const Snapshot& snapshot, const SummaryRequest& request,
                                     const std::string& source);

}  // namespace titan::trace
