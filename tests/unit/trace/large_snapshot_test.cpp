#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <iostream>

#include "core/base/little_endian.hpp"
#include "core/trace/memory_summary.hpp"
#include "tests/support/temporary_folder.hpp"

namespace titan::trace {
namespace {

constexpr std::uint64_t kNumPairs = 1'000'000;  // allocations, and frees

/// Writes a snapshot as picklers do: texts and stacks once, then by their memo.
class SnapshotWriter {
 public:
  explicit SnapshotWriter(const std::filesystem::path& path) : file_(path, std::ios::binary) {}

  void write() {
    out_ = "\x80\x02}(";
    text("segments");
    out_ += "]";
    text("words");
    out_ += "](";
    for (const char* word : {"action", "addr", "size", "time_us", "frames", "name", "filename", "line", "alloc",
                             "free_completed", "forward"}) {
      text(word);
    }
    out_ += "e";
    text("device_traces");
    out_ += "](](";
    for (std::uint64_t i = 0; i < kNumPairs; ++i) {
      event(kAlloc, i, i * 4, i);
      if (i >= kAlive) event(kFree, i - kAlive, i * 4 + 1, i);
    }
    out_ += "eeu.";
    file_ << out_;
  }

 private:
  static constexpr std::uint64_t kAlive = 1000, kStacks = 200;
  // Memo of the words above.
  enum Word : unsigned char {
    kAction = 2,
    kAddr,
    kSize,
    kTime,
    kFrames,
    kName,
    kFilename,
    kLine,
    kAlloc,
    kFree,
    kForward
  };

  void text(std::string_view text) {
    out_ += "X";
    append_little_endian(out_, text.size(), 4);
    out_.append(text);
    remember();
  }
  void remember() {
    out_ += "r";
    append_little_endian(out_, num_memos_++, 4);
  }
  void recall(std::uint64_t memo) {
    out_ += memo < 256 ? "h" : "j";
    append_little_endian(out_, memo, memo < 256 ? 1 : 4);
  }
  void integer(std::uint64_t value) {
    out_ += "\x8a\x08";
    append_little_endian(out_, value, 8);
  }

  void event(Word action, std::uint64_t block, std::uint64_t time, std::uint64_t number) {
    out_ += "}";
    if (number % 2 == 0) remember();
    out_ += "(";
    recall(kAction);
    recall(action);
    recall(kAddr);
    integer(0x7f0000000000 + block * 4096);
    recall(kSize);
    integer(512 + block % 1000);
    recall(kTime);
    integer(1'780'000'000'000'000 + time);
    recall(kFrames);
    stack(number % kStacks);
    out_ += "u";
    if (out_.size() < std::size_t{1} << 20U) return;
    file_ << out_;
    out_.clear();
  }

  void stack(std::uint64_t number) {
    const auto found = stacks_.find(number);
    if (found != stacks_.end()) return recall(found->second);
    out_ += "]";
    stacks_[number] = num_memos_;
    remember();
    out_ += "(";
    frame("aten::mm", "layers." + std::to_string(number));
    frame("forward", "step " + std::to_string(number % 10));
    out_ += "e";
  }
  void frame(const std::string& name, const std::string& file) {
    out_ += "}(";
    recall(kName);
    text(name);
    recall(kFilename);
    text(file);
    recall(kLine);
    integer(0);
    out_ += "u";
  }

  std::ofstream file_;
  std::string out_;
  std::uint64_t num_memos_ = 0;
  std::map<std::uint64_t, std::uint64_t> stacks_;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(LargeSnapshotTest, TwoMillionEventsAreSummarised) {
  const test::TemporaryFolder folder;
  SnapshotWriter(folder / "large.pickle").write();
  const auto begin = std::chrono::steady_clock::now();
  const Snapshot snapshot = read_snapshot(folder / "large.pickle");
  const double reading = seconds_since(begin);
  const std::vector<DeviceSummary> devices = summarise(snapshot, {}, "large.pickle");
  std::cout << std::filesystem::file_size(folder / "large.pickle") << " bytes, read in " << reading
            << " s, summarised in " << seconds_since(begin) - reading << " s\n";
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].num_events, 2 * kNumPairs - 1000);
  EXPECT_EQ(devices[0].end.blocks, 1000);
  EXPECT_EQ(devices[0].peak.blocks, 1001);
}

}  // namespace
}  // namespace titan::trace
