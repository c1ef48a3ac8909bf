// DCP checkpoints that the real PyTorch reads, and that it wrote.
#include <gmock/gmock.h>

#include <map>
#include <sstream>

#include "core/base/text.hpp"
#include "core/checkpoint/dcp/dcp.hpp"
#include "core/checkpoint/read.hpp"
#include "tests/cli/runner/command.hpp"
#include "tests/peers/program_in_path.hpp"
#include "tests/unit/checkpoint/made_step.hpp"

namespace titan::checkpoint {
namespace {

using testing::cut;
using testing::MadeStep;
using testing::MadeTensor;
using testing::random_tensor;
using testing::whole;

constexpr DType kDTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64,
                             DType::i32, DType::i16, DType::i8,  DType::u8,   DType::boolean};

/// A tensor as dcp_peer.py shows it.
std::string shown(DType dtype, const std::vector<std::int64_t>& shape, std::span<const std::byte> bytes) {
  std::vector<std::string> sizes;
  for (const std::int64_t size : shape) sizes.push_back(concat(size));
  std::string elements;
  for (const std::byte byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    elements += kDigits[std::to_integer<std::size_t>(byte >> 4U)];
    elements += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return concat(torch_name(dtype), ' ', sizes.empty() ? "-" : join(sizes, ","), ' ', elements.empty() ? "-" : elements);
}

std::string shown(const Source& source, const std::string& name) {
  const StoredTensor& stored = source.tensors.at(name);
  MadeTensor tensor = testing::blank({name, stored.dtype, stored.shape}, whole(stored.shape));
  const std::vector<WantedPart> wanted = {tensor.wanted()};
  read_parts(source, wanted);
  return shown(stored.dtype, stored.shape, tensor.bytes);
}

class DcpTest : public ::testing::Test {
 protected:
  void SetUp() override {
    python_ = test::program_in_path("python3");
    if (python_.empty()) GTEST_SKIP() << "no python3 in PATH";
    const cli::Outcome found = cli::Command(python_, folder_)
                                   .args({"-c", "import torch.distributed.checkpoint.format_utils"})
                                   .limit(300)
                                   .run();
    if (found.status != 0) GTEST_SKIP() << "python3 in PATH has no PyTorch with distributed checkpoints";
  }

  /// What PyTorch says of a checkpoint, by name.
  std::map<std::string, std::string> ask(const std::string& verb, const std::filesystem::path& checkpoint) {
    const cli::Outcome outcome =
        cli::Command(python_, folder_)
            .args({"-W", "ignore", TITAN_SOURCE_FOLDER "/tests/peers/dcp_peer.py", verb, checkpoint.string()})
            .limit(300)
            .run();
    EXPECT_EQ(outcome.status, 0) << outcome.text();
    std::map<std::string, std::string> items;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      // Tensors have three more words behind their name, counters one.
      std::size_t end = line.rfind(' ');
      if (line.find(' ') != end) end = line.rfind(' ', line.rfind(' ', end - 1) - 1);
      items[line.substr(0, end)] = line.substr(end + 1);
    }
    return items;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path python_;
};

TEST_F(DcpTest, PyTorchReadsOurs) {
  const test::TemporaryFolder ours, theirs;
  MadeStep step(ours.path());
  std::mt19937_64 random(13);
  std::vector<MadeTensor> first, second;
  std::map<std::string, std::string> expected;
  for (const DType dtype : kDTypes) {
    const MadeTensor tensor = random_tensor(concat("layers.", torch_name(dtype), ".w"), dtype, {5, 7}, random);
    first.push_back(cut(tensor, {{0, 0}, {3, 7}}));
    second.push_back(cut(tensor, {{3, 0}, {2, 7}}));
    expected[tensor.info.name] = shown(dtype, tensor.info.shape, tensor.bytes);
  }
  first.push_back(random_tensor("optimizer.state.layers.w.step", DType::f32, {}, random));
  expected["optimizer.state.layers.w.step"] = shown(DType::f32, {}, first.back().bytes);
  step.add_shard(first);
  step.add_shard(second);
  step.source.tensors["empty"] = {DType::bf16, {0, 3}, {}};
  expected["empty"] = shown(DType::bf16, {0, 3}, {});
  step.source.train_state = TrainState{12, std::int64_t{1} << 40U, 13, std::nullopt};
  expected["train_state.step"] = "12";
  expected["train_state.ntokens_seen"] = "1099511627776";
  expected["lr_scheduler.last_epoch"] = "13";
  export_dcp(system_calls(), step.source, theirs.path());
  EXPECT_EQ(ask("read", theirs.path()), expected);
}

TEST_F(DcpTest, WeReadPyTorchs) {
  const std::map<std::string, std::string> expected = ask("write", folder_ / "theirs");
  const Source source = open_dcp(folder_ / "theirs");
  std::size_t num_tensors = 0;
  for (const auto& [name, text] : expected) {
    if (!source.tensors.contains(name)) continue;
    EXPECT_EQ(shown(source, name), text) << name;
    ++num_tensors;
  }
  EXPECT_EQ(num_tensors, std::size(kDTypes) + 2);
  EXPECT_EQ(source.train_state, (TrainState{7, std::int64_t{1} << 40U, 8, std::nullopt}));
}

}  // namespace
}  // namespace titan::checkpoint
