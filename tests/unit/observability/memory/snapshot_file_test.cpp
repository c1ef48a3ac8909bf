#include "plugins/observability/memory/snapshot_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <map>
#include <random>
#include <vector>

#include "tests/support/memory_snapshot.hpp"
#include "tests/support/temporary_folder.hpp"
#include "titan/abi/place.h"

namespace titan::observability {
namespace {

constexpr std::uint64_t kBase = 0x7f0000000000;

const Where kForward{"aten::mm", "", "layers.0", TITAN_IN_FORWARD, 3};
const Where kBackward{"aten::mm", "MmBackward0", "layers.0", TITAN_IN_BACKWARD, 3};
const Where kNowhere{};

class SnapshotFile : public testing::Test {
 protected:
  pickle::Document written(const Recorder& recorder) {
    recorder.inspect([&](const Recorder::View& view) {
      facts_.allocated = view.live_bytes;
      write_snapshot(path_, view, state_, facts_);
    });
    return test::checked_snapshot(path_);
  }
  static std::vector<std::string> actions(const pickle::Value& root) {
    std::vector<std::string> found;
    const pickle::Value trace = root.field("device_traces")->item(0);
    for (std::size_t i = 0; i < trace.size(); ++i) found.emplace_back(*trace.item(i).field("action")->text());
    return found;
  }
  static std::int64_t fact(const pickle::Document& document, std::string_view key) {
    return *document.root().field("titan")->field(key)->integer();
  }
  /// All live blocks, by address.
  static std::map<std::int64_t, pickle::Value> blocks(const pickle::Value& root) {
    std::map<std::int64_t, pickle::Value> found;
    const pickle::Value segments = *root.field("segments");
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const pickle::Value all = *segments.item(i).field("blocks");
      for (std::size_t j = 0; j < all.size(); ++j) {
        if (all.item(j).field("state")->text() != "active_allocated") continue;
        found.emplace(*all.item(j).field("address")->integer(), all.item(j));
      }
    }
    return found;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "step_000000000003" / "rank2_memory_snapshot.pickle";
  StateBlocks state_;
  SnapshotFacts facts_{.rank = 2, .step = 3, .phase = TITAN_IN_STEP, .limit = 1U << 20U, .max_entries = 100};
};

TEST_F(SnapshotFile, SaysWhatHappenedWhereAndWhatLives) {
  Recorder recorder(100);
  recorder.alloc(kBase, 64, kForward);
  recorder.alloc(kBase + 0x1000, 4096, kBackward);
  recorder.free(kBase, kNowhere);
  recorder.out_of_memory(1U << 20U, 7, kForward);
  const pickle::Document document = written(recorder);
  const pickle::Value root = document.root();
  EXPECT_THAT(actions(root), testing::ElementsAre("alloc", "alloc", "free_requested", "free_completed", "oom"));
  const pickle::Value trace = root.field("device_traces")->item(0);
  const pickle::Value frames = *trace.item(1).field("frames");
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames.item(0).field("name")->text(), "aten::mm");
  EXPECT_EQ(frames.item(0).field("filename")->text(), "layers.0");
  EXPECT_EQ(frames.item(1).field("name")->text(), "backward");
  EXPECT_EQ(frames.item(1).field("filename")->text(), "step 3");
  EXPECT_EQ(frames.item(1).field("line")->integer(), 3);
  EXPECT_EQ(frames.item(2).field("name")->text(), "MmBackward0");
  EXPECT_EQ(trace.item(4).field("device_free")->integer(), 7);
  EXPECT_EQ(trace.item(4).field("size")->integer(), 1 << 20);
  EXPECT_EQ(blocks(root).size(), 1U);
  EXPECT_EQ(fact(document, "rank"), 2);
  EXPECT_EQ(fact(document, "step"), 3);
  EXPECT_EQ(fact(document, "live_bytes"), 4096);
  EXPECT_EQ(fact(document, "peak_bytes"), 4160);
  EXPECT_EQ(fact(document, "limit_bytes"), 1 << 20);
  EXPECT_EQ(fact(document, "dropped_events"), 0);
  EXPECT_EQ(fact(document, "oldest_kept_us"), *trace.item(0).field("time_us")->integer());
  EXPECT_EQ(root.field("titan")->field("phase")->text(), "step");
}

TEST_F(SnapshotFile, KindsComeFromTheRunsStateThenFromThePlace) {
  Recorder recorder(100);
  recorder.alloc(kBase, 64, kForward);
  recorder.alloc(kBase + 0x1000, 64, kForward);
  state_.add(kBase, 64, BlockKind::parameter, "layers.0.weight");
  const pickle::Document document = written(recorder);
  const auto found = blocks(document.root());
  const pickle::Value kept = *found.at(kBase).field("titan"), made = *found.at(kBase + 0x1000).field("titan");
  EXPECT_EQ(kept.field("kind")->text(), "parameter");
  EXPECT_EQ(kept.field("name")->text(), "layers.0.weight");
  EXPECT_EQ(made.field("kind")->text(), "activation");
  EXPECT_EQ(made.field("name")->text(), "");
}

TEST_F(SnapshotFile, IsPrivate) {
  written(Recorder(1));
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  ASSERT_EQ(::stat(path_.parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(SnapshotFile, TraceHasNoMoreEntriesThanAllowedAndSaysWhatIsMissing) {
  facts_.max_entries = 3;
  Recorder recorder(3);
  for (std::uint64_t i = 0; i < 10; ++i) recorder.alloc(kBase + i * 0x1000, 64, kForward);
  recorder.free(kBase, kForward);
  recorder.free(kBase + 0x1000, kForward);
  const pickle::Document document = written(recorder);
  EXPECT_THAT(actions(document.root()), testing::ElementsAre("free_requested", "free_completed"))
      << "half of a free is none";
  EXPECT_EQ(fact(document, "dropped_events"), 12);
  EXPECT_EQ(blocks(document.root()).size(), 8U) << "live blocks are complete";
  EXPECT_EQ(fact(document, "live_bytes"), 8 * 64);
}

TEST_F(SnapshotFile, AnythingThatAnAllocatorDoesCanBeShown) {
  std::mt19937 random(7);
  for (const std::size_t max_entries : {1, 2, 7, 100, 100000}) {
    facts_.max_entries = max_entries;
    Recorder recorder(max_entries);
    // Blocks of all sizes over a few addresses, which are used again and again, far from each other and near.
    std::map<std::uint64_t, std::uint64_t> live;
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t slot = random() % 64, address = kBase + (slot % 4 << 32U) + (slot / 4 << 16U);
      const std::uint64_t bytes = random() % 3 == 0 ? 1U << 16U : 1 + random() % 60000;
      if (live.contains(address)) {
        recorder.free(address, kBackward);
        live.erase(address);
      } else {
        recorder.alloc(address, bytes, kForward);
        live.emplace(address, bytes);
      }
    }
    const pickle::Document document = written(recorder);
    EXPECT_EQ(blocks(document.root()).size(), live.size());
    EXPECT_LE(actions(document.root()).size(), max_entries);
  }
}

TEST_F(SnapshotFile, FunctionsStandAfterThePlace) {
  static int something = 0;
  facts_.symbolize = [](const std::vector<void*>& addresses) {
    return std::vector<StackFrame>(addresses.size(), {"titan::f()", "f.cpp", 42});
  };
  Recorder recorder(10, [] { return StackTable::Stack{&something}; });
  recorder.alloc(kBase, 64, kForward);
  recorder.alloc(kBase + 64, 64, kForward);
  const pickle::Document document = written(recorder);
  const pickle::Value frames = *document.root().field("device_traces")->item(0).item(1).field("frames");
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames.item(2).field("name")->text(), "titan::f()");
  EXPECT_EQ(frames.item(2).field("line")->integer(), 42);
}

TEST_F(SnapshotFile, NamesAreSaidInWordsWhereThereAreNone) {
  Recorder recorder(10);
  recorder.alloc(kBase, 64, kNowhere);
  const pickle::Document document = written(recorder);
  const pickle::Value frames = *document.root().field("device_traces")->item(0).item(0).field("frames");
  EXPECT_EQ(frames.item(0).field("name")->text(), "(no operator)");
  EXPECT_EQ(frames.item(0).field("filename")->text(), "(no module)");
  EXPECT_EQ(frames.item(1).field("name")->text(), "nowhere");
}

TEST(SnapshotFolder, IsNamedByStepAndReason) {
  EXPECT_EQ(snapshot_folder(3, false), "step_000000000003");
  EXPECT_EQ(snapshot_folder(0, true), "step_000000000000_exit");
  EXPECT_EQ(snapshot_folder(1234567890123, false), "step_1234567890123");
}

}  // namespace
}  // namespace titan::observability
