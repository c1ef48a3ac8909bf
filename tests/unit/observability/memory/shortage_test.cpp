#include "plugins/observability/memory/shortage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "titan/abi/place.h"

namespace titan::observability {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
const Where kForward{"aten::mm", "", "layers.1", TITAN_IN_FORWARD, 3};
const Where kGather{"aten::empty", "", "layers.1", TITAN_IN_FORWARD, 3, Purpose::communication};

Shortage shortage() {
  Shortage made;
  made.rank = 2;
  made.asked = 3 * kMiB;
  made.op = "aten::mm";
  made.module = "layers.1.feed_forward.w1";
  made.phase = TITAN_IN_FORWARD;
  made.step = 3;
  made.live = 62 * kMiB;
  made.peak = 63 * kMiB;
  made.limit = 64 * kMiB;
  made.is_recorded = true;
  return made;
}

TEST(BytesText, IsShort) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(kMiB), "1.0 MiB");
  EXPECT_EQ(bytes_text(UINT64_MAX), "16777216.0 TiB");
}

TEST(LiveSetTest, TellsRecordedBlocksApart) {
  Recorder recorder(10);
  recorder.alloc(0x10000, 100, kForward);
  recorder.alloc(0x20000, 300, kForward);
  recorder.alloc(0x30000, 50, kGather);
  recorder.alloc(0x40000, 200, {"aten::zeros", "", "", TITAN_IN_INIT, 0});
  StateBlocks state;
  state.add(0x40000, 200, BlockKind::parameter, "layers.1.weight");
  LiveSet set;
  recorder.inspect([&](const Recorder::View& view) { set = live_set(view, state, 2); });
  EXPECT_EQ(set.num_blocks, 4U);
  EXPECT_EQ(set.unknown, 0U);
  EXPECT_EQ(set.of(BlockKind::activation), 400U);
  EXPECT_EQ(set.of(BlockKind::communication), 50U);
  EXPECT_EQ(set.of(BlockKind::parameter), 200U);
  ASSERT_EQ(set.largest.size(), 2U);
  EXPECT_EQ(set.largest[0].bytes, 300U);
  EXPECT_EQ(set.largest[0].name, "layers.1");
  EXPECT_EQ(set.largest[0].made, "aten::mm, step 3, forward");
  EXPECT_EQ(set.largest[1].name, "layers.1.weight");
  EXPECT_EQ(set.largest[1].kind, BlockKind::parameter);
}

TEST(LiveSetTest, WithoutARecordingTheRestIsNotToldApart) {
  StateBlocks state;
  state.add(0x40000, 200, BlockKind::parameter, "a");
  state.add(0x50000, 100, BlockKind::gradient, "a");
  const LiveSet set = live_set(1000, state, 1);
  EXPECT_EQ(set.unknown, 700U);
  EXPECT_EQ(set.of(BlockKind::gradient), 100U);
  ASSERT_EQ(set.largest.size(), 1U);
  EXPECT_EQ(set.largest[0].name, "a");
  EXPECT_EQ(set.largest[0].made, "");
}

TEST(ReportLines, SayWhatWasAskedForAndByWhom) {
  LiveSet set;
  set.num_blocks = 7;
  set.bytes[BlockKind::parameter] = 2 * kMiB;
  set.bytes[BlockKind::activation] = 60 * kMiB;
  set.largest.push_back({kMiB, BlockKind::activation, "layers.0", "aten::mm, step 3, forward"});
  const std::vector<std::string> lines = report_lines(shortage(), set);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0],
            "out of memory on rank 2: 3.0 MiB (3145728 bytes) asked for by aten::mm in layers.1.feed_forward.w1 (step "
            "3, forward)");
  EXPECT_EQ(lines[1],
            "live: 62.0 MiB in 7 blocks, peak: 63.0 MiB, limit: 64.0 MiB (--debug.memory_limit_gib), of which "
            "2.0 MiB were left, 1.0 MiB too much");
  EXPECT_EQ(lines[2],
            "by kind: parameter 2.0 MiB, gradient 0 B, optimizer state 0 B, activation 60.0 MiB, communication 0 B, "
            "buffer 0 B, other 0 B");
  EXPECT_EQ(lines[3], "the largest live blocks:");
  EXPECT_THAT(lines[4], AllOf(HasSubstr("1.0 MiB"), HasSubstr("activation"), HasSubstr("layers.0"),
                              HasSubstr("(aten::mm, step 3, forward)")));
}

TEST(ReportLines, SayWhatIsNotKnown) {
  Shortage made = shortage();
  made.op.clear();
  made.module.clear();
  made.phase = -1;
  made.limit = 0;
  made.is_recorded = false;
  LiveSet set;
  set.unknown = 60 * kMiB;
  const std::vector<std::string> lines = report_lines(made, set);
  EXPECT_THAT(lines[0], HasSubstr("asked for (on a thread beside the training)"));
  EXPECT_THAT(lines[1], HasSubstr("limit: none set"));
  EXPECT_THAT(lines[2], HasSubstr("not told apart 60.0 MiB"));
  made.phase = TITAN_IN_BACKWARD;
  EXPECT_THAT(report_lines(made, set)[2], HasSubstr("not told apart (mostly activations) 60.0 MiB"));
}

}  // namespace
}  // namespace titan::observability
