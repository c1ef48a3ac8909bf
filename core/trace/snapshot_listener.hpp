#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/pickle/stream.hpp"
#include "core/trace/snapshot.hpp"

namespace titan::trace {

/// Makes a Snapshot of a stream.
class SnapshotListener : public pickle::Listener {
 public:
  /// Both outlive this.
  SnapshotListener(Snapshot& snapshot, const std::string& source);

  std::uint64_t finished(const pickle::Finished& container) override;
  /// Ends it with the root of the stream.
  void finish(const pickle::Item& root);

 private:
  /// What a number stands for; its lower bits are an index.
  enum class Made : std::uint8_t {
    nothing,
    frame,
    stack,
    label,
    block,
    blocks,
    segment,
    segments,
    event,
    trace,
    traces
  };
  struct Label {
    std::uint32_t kind = pickle::Texts::kNone, name = pickle::Texts::kNone;
  };
  struct Range {
    std::size_t begin = 0, end = 0;
    bool is_used = false;
  };
  struct Segment {
    std::uint64_t device = 0;
    std::int64_t size = 0;
    std::uint64_t blocks = 0;  // of ranges_
  };
  /// A block of a segment; where it has no address it lies behind the one before it.
  struct Block {
    LiveBlock live;
    std::int64_t span = 0;
    bool is_live = false, has_address = false;
  };
  struct FrameHash {
    std::size_t operator()(const StackFrame& frame) const;
  };
  struct StackHash {
    std::size_t operator()(const std::vector<std::uint32_t>& frames) const;
  };

  template <class... Parts>
  [[noreturn]] void fail(const Parts&... reason) const {
    throw DataError("[trace] no memory snapshot: ", printable(source_), ": ", reason...);
  }

  static std::uint64_t made(Made what, std::size_t index);
  static bool is(const pickle::Item& item, Made what);
  static std::size_t index_of(const pickle::Item& item);

  std::uint64_t finished_dict(const pickle::Finished& dict);
  std::uint64_t finished_list(const pickle::Finished& list);
  std::uint64_t make_frame(const pickle::Finished& dict);
  std::uint64_t make_stack(const pickle::Finished& list);
  std::uint64_t make_label(const pickle::Finished& dict);
  std::uint64_t make_block(const pickle::Finished& dict);
  std::uint64_t make_segment(const pickle::Finished& dict);
  std::uint64_t make_event(const pickle::Finished& dict);
  std::uint64_t make_range(const pickle::Finished& list, Made item, Made range);
  void read_root(const pickle::Finished& dict);
  void read_facts(const pickle::Finished& dict);
  /// The range, which has not been asked for before: a list that is in several places would be counted again.
  const Range& take_range(std::size_t number);
  void place_blocks(const Segment& segment);

  std::int64_t size_of(const pickle::Item& item) const;
  std::uint32_t stack_of(const pickle::Item& item) const;

  Snapshot& snapshot_;
  const std::string& source_;
  std::unordered_map<StackFrame, std::uint32_t, FrameHash> frames_;
  std::unordered_map<std::vector<std::uint32_t>, std::uint32_t, StackHash> stacks_;
  std::vector<std::uint32_t> stack_;  // under way
  std::vector<Label> labels_;
  std::vector<Block> blocks_;
  std::vector<Segment> segments_;
  std::vector<Range> ranges_;
  std::vector<Range> traces_;  // of events, one a device
  bool has_segments_ = false, has_traces_ = false;
};

}  // namespace titan::trace
