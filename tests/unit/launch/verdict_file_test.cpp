#include "core/launch/verdict_file.hpp"

#include <gtest/gtest.h>

#include "tests/unit/base/temporary_folder.hpp"

namespace titan::launch {
namespace {

using test::TemporaryFolder;

TEST(VerdictFile, ReadsBack) {
  const TemporaryFolder folder;
  const auto path = verdict_file(folder.path(), 0);
  write_job_words(path, {.status = 137, .rank = 1, .message = "line 1\nline \"2\" \xff", .time = 12.5});
  const auto words = read_job_words(path);
  ASSERT_TRUE(words.has_value());
  EXPECT_EQ(words->status, 137);
  EXPECT_EQ(words->rank, 1);
  EXPECT_EQ(words->message, "line 1\nline \"2\" \xef\xbf\xbd");
  EXPECT_EQ(words->time, 12.5);
  EXPECT_FALSE(words->is_quit);
}

TEST(VerdictFile, EachNodeHasItsOwn) {
  EXPECT_EQ(verdict_file("errors", 0), "errors/verdict.json");
  EXPECT_EQ(verdict_file("errors", 3), "errors/verdict_node_3.json");
  EXPECT_TRUE(is_verdict_file("errors/verdict.json") && is_verdict_file("errors/verdict_node_3.json"));
  EXPECT_FALSE(is_verdict_file("errors/rank_3.json"));
}

TEST(VerdictFile, AnythingElseIsNone) {
  const TemporaryFolder folder;
  EXPECT_FALSE(read_job_words(folder / "none").has_value());
  for (const char* text : {"", "{", "[]", "{}", R"({"status":"x","rank":0,"message":"","time":1,"quit":false})"}) {
    folder.write("e", text);
    EXPECT_FALSE(read_job_words(folder / "e").has_value()) << text;
  }
}

}  // namespace
}  // namespace titan::launch
