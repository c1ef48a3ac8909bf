#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "core/base/files.hpp"
#include "core/checkpoint/dcp/dcp.hpp"
#include "core/checkpoint/dcp/metadata.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/vectors.hpp"
#include "tests/unit/checkpoint/made_step.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kFile = "__0_0.distcp";

class VerifyDcpTest : public ::testing::Test {
 protected:
  VerifyDcpTest() {
    const test::TemporaryFolder ours;
    testing::MadeStep step(ours.path());
    std::mt19937_64 random(7);
    step.add_shard({testing::random_tensor("layers.0.w", DType::f32, {30, 100}, random),
                    testing::random_tensor("layers.1.w", DType::bf16, {50, 100}, random)});
    step.source.train_state = TrainState{12, 3456, 13, std::nullopt};
    export_dcp(system_calls(), step.source, folder_.path());
  }

  void flip(std::uint64_t at) const {
    std::string content = read_file(folder_ / kFile, 1U << 20U);
    content.at(at) = static_cast<char>(content[at] ^ 1);
    folder_.write(kFile, content);
  }
  std::uint64_t begin_of(const std::string& name) const {
    return open_dcp(folder_.path()).tensors.at(name).parts.at(0).begin;
  }

  const test::TemporaryFolder folder_;
};

TEST_F(VerifyDcpTest, FindsNothingWrongAndTellsHowFarItIs) {
  std::uint64_t last = 0;
  const auto told = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_GT(done, last);
    EXPECT_LE(done, total);
    last = done;
  };
  EXPECT_THAT(verify_dcp(folder_.path(), told), IsEmpty());
  EXPECT_GT(last, 30U * 100 * 4 + 50 * 100 * 2);
}

TEST_F(VerifyDcpTest, WhatTorchtitanWroteIsRight) {
  TITAN_REQUIRE_VECTORS("dcp_2rank/expected_tensors.json");
  EXPECT_THAT(verify_dcp(titan::testing::vectors_dir() / "dcp_2rank/checkpoint/step-3"), IsEmpty());
}

TEST_F(VerifyDcpTest, NamesFileAndTensorOfAByteThatChanged) {
  const std::uint64_t begin = begin_of("layers.1.w"), size = 50 * 100 * 2;
  for (const std::uint64_t at : {begin, begin + size - 1}) {
    flip(at);
    EXPECT_THAT(verify_dcp(folder_.path()), ElementsAre(concat(kFile, ": layers.1.w: damaged: bytes ", begin, " to ",
                                                               begin + size, ", checksum is not its archive's")));
    flip(at);
  }
  EXPECT_THAT(verify_dcp(folder_.path()), IsEmpty());
}

TEST_F(VerifyDcpTest, NamesEveryDamage) {
  const std::uint64_t first = begin_of("layers.0.w"), second = begin_of("layers.1.w");
  flip(first);
  flip(second);
  EXPECT_THAT(verify_dcp(folder_.path()), ElementsAre(HasSubstr("layers.0.w"), HasSubstr("layers.1.w")));
}

TEST_F(VerifyDcpTest, LooksAtCountersToo) {
  const DcpItem item = read_dcp_metadata(folder_.path()).objects.at("train_state.step");
  std::string content = read_file(folder_ / kFile, 1U << 20U);
  const std::size_t value = content.find("\x4b\x0c.", item.offset);  // BININT1 12, STOP
  ASSERT_NE(value, std::string::npos);
  flip(value + 1);
  EXPECT_THAT(verify_dcp(folder_.path()),
              ElementsAre(AllOf(StartsWith(concat(kFile, ": train_state.step: damaged: ")))));
}

TEST_F(VerifyDcpTest, GoesOnAfterAFileThatIsMissingOrShort) {
  const std::string content = read_file(folder_ / kFile, 1U << 20U);
  folder_.write(kFile, content.substr(0, content.size() / 2));
  EXPECT_THAT(verify_dcp(folder_.path()), ::testing::Contains(HasSubstr("file is shorter than its items")));
  std::filesystem::remove(folder_ / kFile);
  EXPECT_THAT(verify_dcp(folder_.path()), ElementsAre(AllOf(StartsWith(kFile), HasSubstr("No such file"))));
}

TEST_F(VerifyDcpTest, MayBeGivenUp) {
  EXPECT_THROW(verify_dcp(folder_.path(), [](std::uint64_t, std::uint64_t) { throw Interrupted(2); }), Interrupted);
}

}  // namespace
}  // namespace titan::checkpoint
