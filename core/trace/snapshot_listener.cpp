#include "core/trace/snapshot_listener.hpp"

#include <algorithm>

namespace titan::trace {
namespace {

using pickle::Finished;
using pickle::Item;

// Keys and words of snapshots; their numbers are those of Word.
constexpr std::string_view kWords[] = {
    "segments",       "device_traces", "frames",       "blocks",      "titan",         "name",
    "filename",       "line",          "kind",         "address",     "addr",          "size",
    "requested_size", "state",         "device",       "total_size",  "action",        "time_us",
    "device_free",    "rank",          "step",         "live_bytes",  "peak_bytes",    "dropped_events",
    "oldest_kept_us", "limit_bytes",   "phase",        "inactive",    "alloc",         "free_requested",
    "free_completed", "segment_alloc", "segment_free", "segment_map", "segment_unmap", "oom"};
enum Word : std::uint32_t {
  kSegments,
  kTraces,
  kFrames,
  kBlocks,
  kTitan,
  kName,
  kFilename,
  kLine,
  kKind,
  kAddress,
  kAddr,
  kSize,
  kRequestedSize,
  kState,
  kDevice,
  kTotalSize,
  kActionWord,
  kTime,
  kDeviceFree,
  kRank,
  kStep,
  kLiveBytes,
  kPeakBytes,
  kDroppedEvents,
  kOldestKept,
  kLimitBytes,
  kPhase,
  kInactive,
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kOom
};

constexpr unsigned kIndexBits = 56;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 48U;  // of one block
constexpr std::size_t kMostFrames = 64;                      // of a stack; the rest is not kept
constexpr std::uint64_t kMostDevices = 1024;

Action action_of(std::uint32_t word) {
  switch (word) {
    case kAlloc:
      return Action::alloc;
    case kFreeRequested:
      return Action::free_requested;
    case kFreeCompleted:
      return Action::free_completed;
    case kSegmentAlloc:
    case kSegmentMap:
      return Action::segment_alloc;
    case kSegmentFree:
    case kSegmentUnmap:
      return Action::segment_free;
    case kOom:
      return Action::oom;
    default:
      return Action::other;
  }
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t more) {
  hash = (hash ^ more) * 0x9e3779b97f4a7c15U;
  return hash ^ hash >> 29U;
}

/// Calls `use(key, value)` for each member whose key is a text.
template <class Use>
void each_member(const Finished& dict, const Use& use) {
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    if (dict.items[i].is_text()) use(dict.items[i].text(), dict.items[i + 1]);
  }
}

}  // namespace

std::size_t SnapshotListener::FrameHash::operator()(const StackFrame& frame) const {
  return mixed(mixed(frame.name, frame.file), static_cast<std::uint64_t>(frame.line));
}

std::size_t SnapshotListener::StackHash::operator()(const std::vector<std::uint32_t>& frames) const {
  std::uint64_t hash = frames.size();
  for (const std::uint32_t frame : frames) hash = mixed(hash, frame);
  return hash;
}

SnapshotListener::SnapshotListener(Snapshot& snapshot, const std::string& source)
    : snapshot_(snapshot), source_(source) {
  for (const std::string_view word : kWords) snapshot_.texts.number(word);
}

std::uint64_t SnapshotListener::made(Made what, std::size_t index) {
  return static_cast<std::uint64_t>(what) << kIndexBits | index;
}

bool SnapshotListener::is(const Item& item, Made what) {
  return item.is_made() && item.bits >> kIndexBits == static_cast<std::uint64_t>(what);
}

std::size_t SnapshotListener::index_of(const Item& item) {
  return static_cast<std::size_t>(item.bits & ((std::uint64_t{1} << kIndexBits) - 1));
}

std::uint64_t SnapshotListener::finished(const Finished& container) {
  if (container.kind == pickle::Kind::dict) return finished_dict(container);
  if (container.kind == pickle::Kind::list) return finished_list(container);
  return made(Made::nothing, 0);
}

std::uint64_t SnapshotListener::finished_dict(const Finished& dict) {
  switch (dict.key) {
    case kTraces:
      return make_event(dict);
    case kFrames:
      return make_frame(dict);
    case kBlocks:
      return make_block(dict);
    case kTitan:
      return make_label(dict);
    case kSegments:
      return make_segment(dict);
    case pickle::Texts::kNone:
      read_root(dict);
      return made(Made::nothing, 1);
    default:
      return made(Made::nothing, 0);
  }
}

std::uint64_t SnapshotListener::finished_list(const Finished& list) {
  switch (list.key) {
    case kFrames:
      return make_stack(list);
    case kBlocks:
      return make_range(list, Made::block, Made::blocks);
    case kSegments:
      for (const Item& item : list.items) {
        if (!is(item, Made::segment)) fail("a segment is no dict");
      }
      return made(Made::segments, 0);
    case kTraces: {
      if (list.items.empty() || !is(list.items.front(), Made::trace)) {
        return make_range(list, Made::event, Made::trace);
      }
      for (const Item& item : list.items) {
        if (!is(item, Made::trace)) fail("what a device did is no list");
        traces_.push_back(take_range(index_of(item)));
      }
      return made(Made::traces, 0);
    }
    default:
      return made(Made::nothing, 0);
  }
}

// Items of a list come one after the other, so their indices do too.
std::uint64_t SnapshotListener::make_range(const Finished& list, Made item, Made range) {
  Range indices;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    if (!is(list.items[i], item)) fail(item == Made::event ? "an event is no dict" : "a block is no dict");
    const std::size_t index = index_of(list.items[i]);
    if (i == 0) indices.begin = index;
    if (index != indices.begin + i) fail("a dict stands for several events or blocks");
    indices.end = index + 1;
  }
  ranges_.push_back(indices);
  return made(range, ranges_.size() - 1);
}

const SnapshotListener::Range& SnapshotListener::take_range(std::size_t number) {
  Range& range = ranges_[number];
  if (range.is_used) fail("a list is in several places");
  range.is_used = true;
  return range;
}

std::uint64_t SnapshotListener::make_frame(const Finished& dict) {
  StackFrame frame;
  each_member(dict, [&](std::uint32_t key, const Item& value) {
    if (key == kName && value.is_text()) frame.name = value.text();
    if (key == kFilename && value.is_text()) frame.file = value.text();
    if (key == kLine && value.is_integer()) frame.line = value.integer();
  });
  const auto [found, is_new] = frames_.try_emplace(frame, 0);
  if (is_new) found->second = snapshot_.stacks.add_frame(frame);
  return made(Made::frame, found->second);
}

std::uint64_t SnapshotListener::make_stack(const Finished& list) {
  stack_.clear();
  for (const Item& item : list.items) {
    if (!is(item, Made::frame)) fail("a frame is no dict");
    if (stack_.size() < kMostFrames) stack_.push_back(static_cast<std::uint32_t>(index_of(item)));
  }
  if (stack_.empty()) return made(Made::stack, 0);
  const auto [found, is_new] = stacks_.try_emplace(stack_, 0);
  if (is_new) found->second = snapshot_.stacks.add(stack_);
  return made(Made::stack, found->second);
}

std::uint64_t SnapshotListener::make_label(const Finished& dict) {
  Label label;
  bool is_of_block = false;
  each_member(dict, [&](std::uint32_t key, const Item& value) {
    if (key == kKind && value.is_text()) label.kind = value.text();
    if (key == kName && value.is_text()) label.name = value.text();
    is_of_block = is_of_block || key == kKind || key == kName;
  });
  if (!is_of_block) read_facts(dict);
  labels_.push_back(label);
  return made(Made::label, labels_.size() - 1);
}

void SnapshotListener::read_facts(const Finished& dict) {
  SnapshotFacts facts;
  each_member(dict, [&](std::uint32_t key, const Item& value) {
    if (key == kPhase && value.is_text()) facts.phase = snapshot_.text(value.text());
    if (!value.is_integer()) return;
    if (key == kRank) facts.rank = value.integer();
    if (key == kStep) facts.step = value.integer();
    if (key == kLiveBytes) facts.live_bytes = value.integer();
    if (key == kPeakBytes) facts.peak_bytes = value.integer();
    if (key == kDroppedEvents) facts.dropped_events = std::max<std::int64_t>(value.integer(), 0);
    if (key == kOldestKept) facts.oldest_kept_us = value.integer();
    if (key == kLimitBytes) facts.limit_bytes = value.integer();
  });
  snapshot_.facts = facts;
}

std::int64_t SnapshotListener::size_of(const Item& item) const {
  if (!item.is_integer() || item.integer() < 0 || item.integer() > kMostBytes) fail("a size is no number of bytes");
  return item.integer();
}

std::uint32_t SnapshotListener::stack_of(const Item& item) const {
  return is(item, Made::stack) ? static_cast<std::uint32_t>(index_of(item)) : 0;
}

std::uint64_t SnapshotListener::make_block(const Finished& dict) {
  Block block;
  bool has_requested = false;
  each_member(dict, [&](std::uint32_t key, const Item& value) {
    if (key == kAddress && value.is_integer()) {
      block.live.address = value.bits;
      block.has_address = true;
    }
    if (key == kSize) block.span = size_of(value);
    if (key == kRequestedSize) {
      block.live.size = size_of(value);
      has_requested = true;
    }
    if (key == kState && value.is_text()) block.is_live = value.text() != kInactive;
    if (key == kFrames) block.live.stack = stack_of(value);
    if (key == kTitan && is(value, Made::label)) {
      const Label& label = labels_[index_of(value)];
      block.live.kind = label.kind;
      block.live.name = label.name;
    }
  });
  if (!has_requested) block.live.size = block.span;
  blocks_.push_back(block);
  return made(Made::block, blocks_.size() - 1);
}

std::uint64_t SnapshotListener::make_segment(const Finished& dict) {
  Segment segment;
  std::uint64_t address = 0;
  bool has_blocks = false;
  each_member(dict, [&](std::uint32_t key, const Item& value) {
    if (key == kDevice && value.is_integer()) segment.device = value.bits;
    if (key == kAddress && value.is_integer()) address = value.bits;
    if (key == kTotalSize) segment.size = size_of(value);
    if (key == kBlocks && is(value, Made::blocks)) {
      segment.blocks = index_of(value);
      has_blocks = true;
    }
  });
  if (!has_blocks) fail("a segment without a list of blocks");
  if (segment.device >= kMostDevices) fail("a segment of device ", static_cast<std::int64_t>(segment.device));
  const Range& range = take_range(static_cast<std::size_t>(segment.blocks));
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (!blocks_[i].has_address) blocks_[i].live.address = address;
    address = blocks_[i].live.address + static_cast<std::uint64_t>(blocks_[i].span);
  }
  segments_.push_back(segment);
  return made(Made::segment, segments_.size() - 1);
}

std::uint64_t SnapshotListener::make_event(const Finished& dict) {
  MemoryEvent event;
  bool has_action = false;
  each_member(dict, [&](std::uint32_t key, const Item& value) {
    switch (key) {
      case kActionWord:
        has_action = value.is_text();
        if (has_action) event.action = action_of(value.text());
        return;
      case kAddr:
      case kDeviceFree:
        if (value.is_integer()) event.address = value.bits;
        return;
      case kSize:
        event.size = size_of(value);
        return;
      case kTime:
        if (value.is_integer()) event.time_us = value.integer();
        return;
      case kFrames:
        event.stack = stack_of(value);
        return;
      default:
        return;
    }
  });
  if (!has_action) fail("an event without an action");
  snapshot_.events.push_back(event);
  return made(Made::event, snapshot_.events.size() - 1);
}

void SnapshotListener::read_root(const Finished& dict) {
  each_member(dict, [&](std::uint32_t key, const Item& value) {
    if (key == kSegments) has_segments_ = is(value, Made::segments);
    if (key == kTraces) has_traces_ = is(value, Made::traces) || is(value, Made::trace);
  });
}

void SnapshotListener::place_blocks(const Segment& segment) {
  DeviceMemory& device = snapshot_.devices[static_cast<std::size_t>(segment.device)];
  device.reserved += segment.size;
  const Range& range = ranges_[segment.blocks];
  for (std::size_t i = range.begin; i < range.end; ++i) {
    if (blocks_[i].is_live) device.blocks.push_back(blocks_[i].live);
  }
}

void SnapshotListener::finish(const Item& root) {
  if (!root.is_made() || root.bits != made(Made::nothing, 1)) fail("its root is no dict");
  if (!has_segments_) fail("it has no list of segments");
  if (!has_traces_) fail("it has no device_traces");
  std::size_t num_devices = traces_.size();
  for (const Segment& segment : segments_) {
    num_devices = std::max<std::size_t>(num_devices, static_cast<std::size_t>(segment.device) + 1);
  }
  if (num_devices > kMostDevices) fail("it has ", num_devices, " devices");
  snapshot_.devices.resize(num_devices);
  for (const Segment& segment : segments_) place_blocks(segment);
  for (std::size_t i = 0; i < traces_.size(); ++i) {
    const std::span<const MemoryEvent> events(snapshot_.events);
    snapshot_.devices[i].events = events.subspan(traces_[i].begin, traces_[i].end - traces_[i].begin);
  }
}

}  // namespace titan::trace
