#include "plugins/observability/memory/snapshot_file.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "plugins/observability/memory/segments.hpp"
#include "plugins/observability/phase.hpp"
#include "titan/abi/memory.h"
#include "titan/sdk/text.hpp"

namespace titan::observability {
namespace {

// Stretches of unused addresses up to this long belong to the segment around them, as in PyTorch's own: the viewers
// look through all segments for each event.
constexpr std::uint64_t kLargestGap = std::uint64_t{1} << 20U;
constexpr std::uint64_t kLargeSegment = std::uint64_t{2} << 20U;

std::int64_t number(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// Which of the kept events a trace of limited length shows: the newest.
struct Shown {
  std::size_t first = 0;
  std::uint64_t dropped_entries = 0;
};

Shown shown_events(const EventRing& events, std::size_t max_entries) {
  Shown shown{events.size(), events.forgotten_entries()};
  std::uint64_t entries = 0;
  while (shown.first > 0 && entries + num_entries(events[shown.first - 1]) <= max_entries) {
    entries += num_entries(events[--shown.first]);
  }
  for (std::size_t i = 0; i < shown.first; ++i) shown.dropped_entries += num_entries(events[i]);
  return shown;
}

using Block = std::pair<std::uint64_t, const LiveBlock*>;

/// Writes one snapshot.
class SnapshotWriter {
 public:
  SnapshotWriter(PickleWriter& writer, const Recorder::View& view, const StateBlocks& state, const SnapshotFacts& facts)
      : writer_(writer),
        view_(view),
        state_(state),
        facts_(facts),
        frames_(writer, view, facts.symbolize),
        shown_(shown_events(view.events, facts.max_entries)) {
    for (const auto& [address, block] : view.live) blocks_.emplace_back(address, &block);
    std::sort(blocks_.begin(), blocks_.end());
  }

  void write() {
    writer_.begin_dict();
    writer_.text("segments");
    segments();
    writer_.text("device_traces");
    writer_.begin_list();
    trace();
    writer_.end_list();
    writer_.text("allocator_settings");
    empty_dict();
    writer_.text("external_annotations");
    empty_list();
    writer_.text("titan");
    titan();
    writer_.end_dict();
  }

 private:
  void empty_list() {
    writer_.begin_list();
    writer_.end_list();
  }
  void empty_dict() {
    writer_.begin_dict();
    writer_.end_dict();
  }

  // Every block of the trace has to lie in a segment, those that are gone too.
  void segments() {
    Segments joined(kLargestGap);
    for (const auto& [address, block] : blocks_) joined.add({address, address + block->bytes});
    for (std::size_t i = shown_.first; i < view_.events.size(); ++i) {
      const RecordedEvent& event = view_.events[i];
      if (event.action != TITAN_MEMORY_OUT_OF_MEMORY) joined.add({event.address, event.address + event.bytes});
    }
    writer_.begin_list();
    auto next = blocks_.cbegin();
    for (const Segment& segment : joined.take()) {
      const auto end = std::find_if(next, blocks_.cend(), [&](const Block& b) { return b.first >= segment.end; });
      write(segment, next, end);
      next = end;
    }
    writer_.end_list();
  }

  void write(const Segment& segment, std::vector<Block>::const_iterator next, std::vector<Block>::const_iterator end) {
    std::uint64_t live = 0;
    for (auto block = next; block != end; ++block) live += block->second->bytes;
    const std::uint64_t size = segment.end - segment.begin;
    writer_.begin_dict();
    writer_.entry("device", std::int64_t{0});
    writer_.entry("address", number(segment.begin));
    writer_.entry("total_size", number(size));
    writer_.entry("allocated_size", number(live));
    writer_.entry("active_size", number(live));
    writer_.entry("requested_size", number(live));
    writer_.entry("stream", std::int64_t{0});
    writer_.entry("segment_type", size >= kLargeSegment ? "large" : "small");
    writer_.text("segment_pool_id");
    writer_.begin_tuple();
    writer_.integer(0);
    writer_.integer(0);
    writer_.end_tuple();
    writer_.entry("is_expandable", false);
    writer_.text("frames");
    empty_list();
    writer_.text("blocks");
    writer_.begin_list();
    std::uint64_t at = segment.begin;
    for (; next != end; ++next) {
      unused(at, next->first);
      write(next->first, *next->second);
      at = next->first + next->second->bytes;
    }
    unused(at, segment.end);
    writer_.end_list();
    writer_.end_dict();
  }

  void unused(std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return;
    writer_.begin_dict();
    writer_.entry("address", number(begin));
    writer_.entry("size", number(end - begin));
    writer_.entry("requested_size", std::int64_t{0});
    writer_.entry("state", "inactive");
    writer_.text("frames");
    empty_list();
    writer_.end_dict();
  }

  void write(std::uint64_t address, const LiveBlock& block) {
    const StateBlock* kept = state_.find(address);
    writer_.begin_dict();
    writer_.entry("address", number(address));
    writer_.entry("size", number(block.bytes));
    writer_.entry("requested_size", number(block.bytes));
    writer_.entry("state", "active_allocated");
    writer_.text("frames");
    frames_.write(block.place, block.step, block.stack);
    writer_.text("titan");
    writer_.begin_dict();
    writer_.entry("kind", kind_name(kept != nullptr ? kept->kind : kind_by_place(view_.places[block.place])));
    writer_.entry("name", kept != nullptr ? kept->text() : std::string());
    writer_.end_dict();
    writer_.end_dict();
  }

  void trace() {
    writer_.begin_list();
    for (std::size_t i = shown_.first; i < view_.events.size(); ++i) write(view_.events[i]);
    writer_.end_list();
  }

  void write(const RecordedEvent& event) {
    switch (event.action) {
      case TITAN_MEMORY_ALLOC:
        return entry("alloc", "addr", event);
      case TITAN_MEMORY_FREE:
        entry("free_requested", "addr", event);
        return entry("free_completed", "addr", event);
      default:
        return entry("oom", "device_free", event);
    }
  }

  void entry(const char* action, const char* of_address, const RecordedEvent& event) {
    writer_.begin_dict();
    writer_.entry("action", action);
    writer_.entry(of_address, number(event.address));
    writer_.entry("size", number(event.bytes));
    writer_.entry("stream", std::int64_t{0});
    writer_.entry("time_us", event.time_us);
    writer_.text("frames");
    frames_.write(event.place, event.step, event.stack);
    writer_.end_dict();
  }

  void titan() {
    const bool has_events = shown_.first < view_.events.size();
    writer_.begin_dict();
    writer_.entry("rank", std::int64_t{facts_.rank});
    writer_.entry("step", facts_.step);
    writer_.entry("phase", phase_name(facts_.phase));
    writer_.entry("live_bytes", number(view_.live_bytes));
    writer_.entry("allocator_bytes", number(facts_.allocated));
    writer_.entry("peak_bytes", number(view_.peak_bytes));
    writer_.entry("limit_bytes", number(facts_.limit));
    writer_.entry("dropped_events", number(shown_.dropped_entries));
    writer_.entry("oldest_kept_us", has_events ? view_.events[shown_.first].time_us : 0);
    writer_.entry("lost_blocks", number(view_.lost_blocks));
    writer_.end_dict();
  }

  PickleWriter& writer_;
  const Recorder::View& view_;
  const StateBlocks& state_;
  const SnapshotFacts& facts_;
  FrameWriter frames_;
  Shown shown_;
  std::vector<Block> blocks_;  // in order of their addresses
};

}  // namespace

std::string snapshot_folder(std::int64_t step, bool is_exit) {
  std::string digits = sdk::concat(step);
  if (digits.size() < 12) digits.insert(0, 12 - digits.size(), '0');
  return sdk::concat("step_", digits, is_exit ? "_exit" : "");
}

void write_snapshot(const std::filesystem::path& path, const Recorder::View& view, const StateBlocks& state,
                    const SnapshotFacts& facts) {
  PickleWriter writer(path);
  SnapshotWriter(writer, view, state, facts).write();
  writer.finish();
}

}  // namespace titan::observability
