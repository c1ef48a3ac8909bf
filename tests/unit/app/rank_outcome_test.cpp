#include "core/app/rank_outcome.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "core/launch/rank_report.hpp"
#include "tests/unit/base/temporary_folder.hpp"

namespace titan::app {
namespace {

class RankOutcome : public testing::Test {
 protected:
  RankOutcome() {
    for (const char* name : kNames) ::unsetenv(name);
  }
  ~RankOutcome() override {
    for (const char* name : kNames) ::unsetenv(name);
  }
  static void set(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }

  static constexpr const char* kNames[] = {"TITAN_ERROR_FILE", "TITAN_DONE_FILE", "TORCHELASTIC_ERROR_FILE", "RANK",
                                           "WORLD_SIZE"};
  test::TemporaryFolder folder_;
};

TEST_F(RankOutcome, WithoutALauncherNothingIsWritten) {
  Verdict verdict;
  tell_launcher(verdict);
  Verdict failure{78, "no"};
  tell_launcher(failure);
  EXPECT_EQ(verdict.status, 0);
  EXPECT_EQ(failure.status, 78);
}

TEST_F(RankOutcome, SuccessIsTheToken) {
  set("TITAN_DONE_FILE", folder_ / "done");
  set("TITAN_ERROR_FILE", folder_ / "error");
  Verdict verdict;
  tell_launcher(verdict);
  EXPECT_TRUE(launch::has_done_token(folder_ / "done", ::getpid()));
  EXPECT_FALSE(launch::read_rank_error(folder_ / "error").has_value());
}

TEST_F(RankOutcome, AFailureIsTheErrorAndNoToken) {
  set("TITAN_DONE_FILE", folder_ / "done");
  set("TITAN_ERROR_FILE", folder_ / "error");
  set("TORCHELASTIC_ERROR_FILE", folder_ / "elastic");
  set("RANK", "3");
  Verdict verdict{80, "[train] not finite: \x1b[31mstep 3\x1b[0m"};
  tell_launcher(verdict);
  const auto error = launch::read_rank_error(folder_ / "error");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, 80);
  EXPECT_EQ(error->rank, 3);
  EXPECT_EQ(error->message, "[train] not finite: step 3");
  EXPECT_EQ(error->phase, "while starting");
  EXPECT_NE(test::content_of(folder_ / "elastic").find("not finite"), std::string::npos);
  EXPECT_FALSE(launch::has_done_token(folder_ / "done", ::getpid()));
}

TEST_F(RankOutcome, ATokenThatCannotBeWrittenIsTheFailure) {
  folder_.write("file", "");
  set("TITAN_DONE_FILE", folder_ / "file/done");
  set("TITAN_ERROR_FILE", folder_ / "error");
  Verdict verdict;
  tell_launcher(verdict);
  EXPECT_EQ(verdict.status, 73);
  EXPECT_TRUE(launch::read_rank_error(folder_ / "error").has_value());
}

TEST_F(RankOutcome, AnErrorThatCannotBeWrittenChangesNothing) {
  folder_.write("file", "");
  set("TITAN_ERROR_FILE", folder_ / "file/error");
  Verdict verdict{65, "bad data"};
  tell_launcher(verdict);
  EXPECT_EQ(verdict.status, 65);
}

TEST_F(RankOutcome, OneOfSeveralRanksWritesInTheDumpFolder) {
  set("WORLD_SIZE", "2");
  set("RANK", "1");
  EXPECT_TRUE(has_peers());
  write_errors_to(folder_.path());
  Verdict verdict{69, "lost"};
  tell_launcher(verdict);
  EXPECT_TRUE(launch::read_rank_error(folder_ / "errors/rank_1.json").has_value());
  write_errors_to(folder_.path());
  EXPECT_FALSE(launch::read_rank_error(folder_ / "errors/rank_1.json").has_value()) << "an earlier run's is removed";
}

TEST_F(RankOutcome, PeersAreWhatTheEnvironmentSays) {
  EXPECT_FALSE(has_peers());
  set("WORLD_SIZE", "1");
  EXPECT_FALSE(has_peers());
  set("WORLD_SIZE", "many");
  EXPECT_FALSE(has_peers());
}

}  // namespace
}  // namespace titan::app
