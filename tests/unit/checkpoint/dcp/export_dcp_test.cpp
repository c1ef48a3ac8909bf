#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/checkpoint/dcp/dcp.hpp"
#include "core/checkpoint/read.hpp"
#include "tests/support/faulty_calls.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/made_step.hpp"

namespace titan::checkpoint {
namespace {

using testing::blank;
using testing::cut;
using ::testing::HasSubstr;
using testing::MadeStep;
using testing::MadeTensor;
using testing::random_tensor;
using testing::same_bytes;
using testing::whole;
using titan::testing::error_text;

constexpr DType kDTypes[] = {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64,
                             DType::i32, DType::i16, DType::i8,  DType::u8,   DType::boolean};

/// A step of two ranks in our format, with every dtype, uneven rows, a scalar and a tensor without elements.
struct Made {
  explicit Made(const std::filesystem::path& folder) : step(folder) {
    std::mt19937_64 random(11);
    std::vector<MadeTensor> first, second;
    for (const DType dtype : kDTypes) {
      tensors.push_back(random_tensor(concat("layers.", torch_name(dtype), ".w"), dtype, {5, 7}, random));
      first.push_back(cut(tensors.back(), {{0, 0}, {3, 7}}));
      second.push_back(cut(tensors.back(), {{3, 0}, {2, 7}}));
    }
    tensors.push_back(random_tensor("optimizer.state.layers.w.step", DType::f32, {}, random));
    second.push_back(tensors.back());
    step.add_shard(first);
    step.add_shard(second);
    tensors.push_back(random_tensor("empty", DType::f32, {0, 3}, random));
    step.source.tensors["empty"] = {DType::f32, {0, 3}, {}};
    step.source.train_state = TrainState{12, 3456, 13, "cursors"};
  }

  std::vector<MadeTensor> tensors;
  MadeStep step;
};

TEST(ExportDcpTest, ComesBackBitForBit) {
  const test::TemporaryFolder ours, theirs;
  const Made made(ours.path());
  export_dcp(system_calls(), made.step.source, theirs.path());
  const Source source = open_dcp(theirs.path());
  EXPECT_EQ(source.tensors.size(), made.tensors.size());
  for (const MadeTensor& tensor : made.tensors) {
    MadeTensor back = blank(tensor.info, whole(tensor.info.shape));
    const std::vector<WantedPart> wanted = {back.wanted()};
    read_parts(source, wanted);
    EXPECT_TRUE(same_bytes(back.bytes, tensor.bytes)) << tensor.info.name;
  }
  ASSERT_TRUE(source.train_state);
  EXPECT_EQ(*source.train_state, (TrainState{12, 3456, 13, std::nullopt}));
}

TEST(ExportDcpTest, FilesAreTheOwnersAlone) {
  const test::TemporaryFolder ours, theirs;
  export_dcp(system_calls(), Made(ours.path()).step.source, theirs.path());
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(theirs.path())) {
    struct stat status {};
    ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre(".metadata", "__0_0.distcp", "__0_1.distcp"));
}

TEST(ExportDcpTest, TellsItsProgress) {
  const test::TemporaryFolder ours, theirs;
  const Made made(ours.path());
  std::uint64_t last = 0, all = 0;
  for (const MadeTensor& tensor : made.tensors) all += tensor.bytes.size();
  export_dcp(system_calls(), made.step.source, theirs.path(), [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_GT(done, last);
    EXPECT_EQ(total, all);
    last = done;
  });
  EXPECT_EQ(last, all);
}

TEST(ExportDcpTest, ReplacesNothing) {
  const test::TemporaryFolder ours, theirs;
  const Made made(ours.path());
  theirs.write("__0_1.distcp", "mine");
  EXPECT_THAT(error_text<CreateError>([&] { export_dcp(system_calls(), made.step.source, theirs.path()); }),
              HasSubstr("__0_1.distcp"));
  EXPECT_EQ(read_file(theirs / "__0_1.distcp", 100), "mine");
  EXPECT_FALSE(std::filesystem::exists(theirs / "__0_0.distcp"));
  EXPECT_FALSE(std::filesystem::exists(theirs / ".metadata"));
}

TEST(ExportDcpTest, LeavesNothingWhenItIsGivenUp) {
  const test::TemporaryFolder ours, theirs;
  const Made made(ours.path());
  EXPECT_THROW(export_dcp(system_calls(), made.step.source, theirs.path(),
                          [](std::uint64_t, std::uint64_t) { throw Interrupted(2); }),
               Interrupted);
  EXPECT_TRUE(std::filesystem::is_empty(theirs.path()));
}

TEST(ExportDcpTest, AFaultLeavesNothing) {
  const test::TemporaryFolder ours;
  const Made made(ours.path());
  for (const test::Call call : {test::Call::open, test::Call::write, test::Call::fsync, test::Call::rename}) {
    bool has_struck = true;
    for (int at = 1; has_struck; ++at) {
      const test::TemporaryFolder theirs;
      test::FaultyCalls calls;
      calls.set_fault({.call = call, .at = at, .error = EIO});
      bool has_failed = true;
      try {
        export_dcp(calls, made.step.source, theirs.path());
        has_failed = false;
      } catch (const Error& error) {
        EXPECT_TRUE(error.exit() == Exit::io || error.exit() == Exit::cannot_create) << error.what();
      }
      has_struck = calls.has_struck();
      if (has_failed) {
        EXPECT_TRUE(std::filesystem::is_empty(theirs.path())) << test::call_name(call) << ' ' << at;
        EXPECT_TRUE(has_struck);
      } else {
        EXPECT_EQ(open_dcp(theirs.path()).tensors.size(), made.tensors.size());
      }
    }
  }
}

TEST(ExportDcpTest, MetadataGetsItsNameAfterEverythingIsOnTheDisk) {
  const test::TemporaryFolder ours, theirs;
  test::FaultyCalls calls;
  export_dcp(calls, Made(ours.path()).step.source, theirs.path());
  std::vector<std::string> synced;
  for (const test::MadeCall& made : calls.made()) {
    if (made.call == test::Call::rename) break;
    if (made.call == test::Call::fsync) synced.push_back(made.path);
  }
  const auto path = [&](const char* name) { return (theirs / name).string(); };
  EXPECT_THAT(synced, ::testing::ElementsAre(path("__0_0.distcp"), path("__0_1.distcp"), path(".metadata.tmp"),
                                             theirs.path().string()));
}

}  // namespace
}  // namespace titan::checkpoint
