// A job that the real torchrun starts.
#include <gmock/gmock.h>

#include "tests/faults/ranks.hpp"
#include "tests/peers/program_in_path.hpp"

namespace titan::cli {
namespace {

using testing::HasSubstr;

std::filesystem::path torchrun_program() { return test::program_in_path("torchrun"); }

class TorchrunTest : public RanksTest {
 protected:
  void SetUp() override {
    RanksTest::SetUp();
    if (!IsSkipped() && torchrun_program().empty()) GTEST_SKIP() << "no torchrun (PyTorch) in PATH";
  }

  /// Underscores and single streams: releases from 1.13 on know these, also with the Python that Debian 12 has.
  Command torchrun(std::initializer_list<std::string> words) const {
    return Command(torchrun_program(), folder_)
        .args({"--nproc_per_node", "2", "--rdzv_backend", "c10d", "--rdzv_endpoint", "localhost:0", "--redirects", "1",
               "--tee", "2", "--no_python", titan_program()})
        .args(run(words))
        .limit(300);
  }
};

TEST_F(TorchrunTest, TwoRanksTrain) {
  EXPECT_THAT(torchrun({"--training.steps=3"}).run(), ExitsWith(0));
  EXPECT_THAT(read(dump_folder() / "metrics.jsonl"), HasSubstr("\"step\": 3,"));
  EXPECT_TRUE(std::filesystem::exists(dump_folder() / "logs/rank_1.log"));
}

TEST_F(TorchrunTest, ItsReportHasOurError) {
  const Outcome outcome = torchrun({})
                              .env("TITAN_MISCHIEF", "throw")
                              .env("TITAN_MISCHIEF_AT", "end:2")
                              .env("TITAN_MISCHIEF_RANK", "1")
                              .run();
  EXPECT_NE(outcome.status, 0);
  const std::string output = outcome.out + outcome.err;
  const std::size_t report = output.find("Root Cause");
  ASSERT_NE(report, std::string::npos) << output;
  EXPECT_THAT(output.substr(report), HasSubstr("mischief threw"));
}

}  // namespace
}  // namespace titan::cli
