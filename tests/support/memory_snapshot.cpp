#include "tests/support/memory_snapshot.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/base/files.hpp"

namespace titan::test {
namespace {

using pickle::Kind;
using pickle::Value;

std::int64_t integer(const Value& dict, std::string_view key) {
  const auto value = dict.field(key);
  EXPECT_TRUE(value && value->integer()) << key;
  return value && value->integer() ? *value->integer() : -1;
}

std::string text(const Value& dict, std::string_view key) {
  const auto value = dict.field(key);
  EXPECT_TRUE(value && value->text()) << key;
  return value && value->text() ? std::string(*value->text()) : std::string();
}

std::vector<Value> list(const Value& dict, std::string_view key) {
  std::vector<Value> items;
  const auto value = dict.field(key);
  EXPECT_TRUE(value && value->kind() == Kind::list) << key;
  for (std::size_t i = 0; value && i < value->size(); ++i) items.push_back(value->item(i));
  return items;
}

void check_frames(const Value& holder) {
  for (const Value& frame : list(holder, "frames")) {
    text(frame, "name");
    text(frame, "filename");
    EXPECT_GE(integer(frame, "line"), 0);
  }
}

/// What the trace is undone from: live blocks with their sizes, and the segments around them.
struct Final {
  std::map<std::int64_t, std::int64_t> live;
  std::map<std::int64_t, std::int64_t> segments;  // begin, end

  void expect_inside(std::int64_t address, std::int64_t size) const {
    auto segment = segments.upper_bound(address);
    ASSERT_NE(segment, segments.begin()) << address;
    --segment;
    EXPECT_LE(address + size, segment->second) << address;
  }
};

void read_segment(const Value& segment, Final& out) {
  const std::int64_t begin = integer(segment, "address"), size = integer(segment, "total_size");
  EXPECT_EQ(integer(segment, "device"), 0);
  EXPECT_EQ(integer(segment, "stream"), 0);
  EXPECT_TRUE((std::set<std::string>{"large", "small"}.contains(text(segment, "segment_type"))));
  const std::vector<Value> blocks = list(segment, "blocks");
  EXPECT_FALSE(blocks.empty());
  std::int64_t at = begin, live = 0;
  for (const Value& block : blocks) {
    const std::int64_t bytes = integer(block, "size");
    EXPECT_EQ(integer(block, "address"), at);
    EXPECT_GT(bytes, 0);
    EXPECT_LE(integer(block, "requested_size"), bytes);
    check_frames(block);
    if (text(block, "state") == "active_allocated") {
      live += bytes;
      EXPECT_TRUE(out.live.emplace(at, bytes).second);
    } else {
      EXPECT_EQ(text(block, "state"), "inactive");
    }
    at += bytes;
  }
  EXPECT_EQ(at, begin + size) << "blocks fill their segment";
  EXPECT_EQ(integer(segment, "allocated_size"), live);
  EXPECT_EQ(integer(segment, "active_size"), live);
  if (!out.segments.empty()) {
    EXPECT_LE(out.segments.rbegin()->second, begin) << "segments overlap";
  }
  out.segments.emplace(begin, begin + size);
}

void undo(const Value& event, Final& state, std::set<std::int64_t>& being_freed) {
  const std::string action = text(event, "action");
  const std::int64_t size = integer(event, "size");
  EXPECT_EQ(integer(event, "stream"), 0);
  integer(event, "time_us");
  check_frames(event);
  if (action == "oom") {
    EXPECT_GE(integer(event, "device_free"), 0);
    return;
  }
  const std::int64_t address = integer(event, "addr");
  if (action == "alloc") {
    ASSERT_TRUE(state.live.contains(address)) << "after it the block is not there";
    EXPECT_EQ(state.live[address], size);
    EXPECT_FALSE(being_freed.contains(address));
    state.expect_inside(address, size);
    state.live.erase(address);
  } else if (action == "free_completed") {
    EXPECT_TRUE(state.live.emplace(address, size).second) << "the block is still there afterwards";
    being_freed.insert(address);
    state.expect_inside(address, size);
  } else {
    EXPECT_EQ(action, "free_requested");
    EXPECT_EQ(being_freed.erase(address), 1U) << "never completed";
  }
}

}  // namespace

pickle::Document checked_snapshot(const std::filesystem::path& path) {
  pickle::Document document = pickle::Document::read(read_file(path, std::uint64_t{1} << 30U), {}, path.native());
  const Value root = document.root();
  Final state;
  for (const Value& segment : list(root, "segments")) read_segment(segment, state);
  std::int64_t live = 0;
  for (const auto& [address, size] : state.live) live += size;
  const auto titan = root.field("titan");
  EXPECT_TRUE(titan);
  if (titan) {
    EXPECT_EQ(integer(*titan, "live_bytes"), live) << "the sum of live blocks";
    EXPECT_EQ(integer(*titan, "allocator_bytes"), live) << "the allocator counts for itself";
  }
  const std::vector<Value> traces = list(root, "device_traces");
  EXPECT_EQ(traces.size(), 1U);
  std::set<std::int64_t> being_freed;
  for (std::size_t i = traces.empty() ? 0 : traces[0].size(); i-- > 0;) undo(traces[0].item(i), state, being_freed);
  return document;
}

}  // namespace titan::test
