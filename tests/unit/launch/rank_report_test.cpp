#include "core/launch/rank_report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "tests/unit/base/temporary_folder.hpp"

namespace titan::launch {
namespace {

using test::content_of;
using test::TemporaryFolder;

TEST(RankReport, AnErrorReadsBack) {
  const TemporaryFolder folder;
  const double before = monotonic_seconds();
  write_rank_error(folder / "errors/rank_3.json",
                   rank_error_now(80, "[train] not finite: \"loss\"\nline 2", 3, "in training"));
  const auto error = read_rank_error(folder / "errors/rank_3.json");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->code, 80);
  EXPECT_EQ(error->message, "[train] not finite: \"loss\"\nline 2");
  EXPECT_EQ(error->rank, 3);
  EXPECT_EQ(error->pid, ::getpid());
  EXPECT_EQ(error->phase, "in training");
  EXPECT_GE(error->moment, before);
  EXPECT_LE(error->moment, monotonic_seconds());
  EXPECT_NE(error->host, "");
  EXPECT_FALSE(error->is_quit);
}

TEST(RankReport, SaysThatSomebodyQuit) {
  const TemporaryFolder folder;
  RankError quit = rank_error_now(130, "quit", 0, "in training");
  quit.is_quit = true;
  write_rank_error(folder / "e", quit);
  EXPECT_TRUE(read_rank_error(folder / "e").value_or(RankError{}).is_quit);
}

TEST(RankReport, AnyBytesCanBeAMessage) {
  const TemporaryFolder folder;
  write_rank_error(folder / "e", rank_error_now(70, "\xff\x01" + std::string(1 << 20, 'x'), 0, "p"));
  const auto error = read_rank_error(folder / "e");
  ASSERT_TRUE(error.has_value());
  EXPECT_LT(error->message.size(), 20000U);
}

TEST(RankReport, AnythingElseIsNoError) {
  const TemporaryFolder folder;
  const char* const texts[] = {
      "",
      "{",
      "[]",
      "{}",
      "{\"code\": 1}",
      R"({"code": "x", "message": "", "rank": 0, "host": "", "pid": 1, "time": 1, "moment": 1, "phase": ""})"};
  for (const char* text : texts) EXPECT_EQ(read_rank_error(folder.write("e", text)).has_value(), false) << text;
  EXPECT_FALSE(read_rank_error(folder.write("e", std::string(1 << 20, ' '))).has_value());
  EXPECT_FALSE(read_rank_error(folder / "missing").has_value());
  EXPECT_FALSE(read_rank_error(folder.path()).has_value());
}

// torch/distributed/elastic/multiprocessing/errors reads message.message and message.extraInfo.timestamp, an integer
// written as text.
TEST(RankReport, TorchelasticsForm) {
  const TemporaryFolder folder;
  write_torchelastic_error(folder / "e", rank_error_now(65, "bad data", 1, "in training"));
  const auto found = nlohmann::json::parse(content_of(folder / "e"));
  EXPECT_EQ(found["message"]["message"], "bad data");
  EXPECT_GT(std::stoll(found["message"]["extraInfo"]["timestamp"].get<std::string>()), 1'000'000'000);
  EXPECT_FALSE(found["message"]["extraInfo"].contains("py_callstack"));  // torchrun would show it as the message
}

TEST(RankReport, ATokenIsOfOneProcess) {
  const TemporaryFolder folder;
  EXPECT_FALSE(has_done_token(folder / "done", ::getpid()));
  write_done_token(folder / "done");
  EXPECT_TRUE(has_done_token(folder / "done", ::getpid()));
  EXPECT_FALSE(has_done_token(folder / "done", ::getpid() + 1));
  EXPECT_FALSE(has_done_token(folder.write("other", "{\"pid\": 1}"), 1));
  EXPECT_FALSE(has_done_token(folder.write("other", "done"), 1));
}

TEST(RankReport, ATokenThatCannotBeWrittenIsAnError) {
  const TemporaryFolder folder;
  folder.write("file", "");
  EXPECT_THROW(write_done_token(folder / "file/done"), CreateError);
}

}  // namespace
}  // namespace titan::launch
