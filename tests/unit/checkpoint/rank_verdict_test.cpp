#include "core/checkpoint/rank_verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <new>

#include "tests/support/thread_team.hpp"
#include "tests/support/thrown_text.hpp"

namespace titan::checkpoint {
namespace {

using Kind = RankVerdict::Kind;
using ::testing::HasSubstr;
using titan::testing::error_text;

/// A team whose gather() gives what the test says.
class Scripted final : public Team {
 public:
  explicit Scripted(std::vector<std::string> texts) : texts_(std::move(texts)) {}
  std::int64_t rank() const override { return 0; }
  std::int64_t size() const override { return static_cast<std::int64_t>(texts_.size()); }
  std::vector<std::string> gather(const std::string&) override { return texts_; }

 private:
  std::vector<std::string> texts_;
};

TEST(RankVerdictTest, WhatAnActionThrowsBecomesAFailure) {
  EXPECT_EQ(verdict_of([] { return std::string("id"); }), (RankVerdict{Kind::done, "id"}));
  EXPECT_EQ(verdict_of([]() -> std::string { throw IoError("no disk"); }),
            (RankVerdict{Kind::failed, "no disk", Exit::io}));
  EXPECT_EQ(verdict_of([]() -> std::string { throw std::bad_alloc(); }).exit, Exit::resource);
  EXPECT_EQ(verdict_of([]() -> std::string { throw std::runtime_error("x"); }).exit, Exit::internal);
  EXPECT_EQ(verdict_of([]() -> std::string { throw 1; }).exit, Exit::internal);
}

TEST(RankVerdictTest, AllRanksSeeAllVerdicts) {
  const std::vector<RankVerdict> sent = {
      {Kind::working, ""}, {Kind::done, "two\nlines\n"}, {Kind::failed, "why\nnot", Exit::cannot_create}};
  std::atomic<int> num_equal = 0;
  test::run_team(3, [&](Team& team) {
    const std::vector<RankVerdict> got = exchange(team, "writing step-1", sent[static_cast<std::size_t>(team.rank())]);
    if (got == sent) ++num_equal;
  });
  EXPECT_EQ(num_equal, 3);
  EXPECT_TRUE(any_is(sent, Kind::working));
  EXPECT_FALSE(any_is({sent[1]}, Kind::working));
}

TEST(RankVerdictTest, RanksAtAnotherPlaceAreAMistake) {
  EXPECT_THROW(
      test::run_team(2, [](Team& team) { exchange(team, team.rank() == 0 ? "writing step-1" : "writing step-2", {}); }),
      InternalError);
  for (const char* text : {"", "act", "act\nd", "act\nx\n74\n", "act\nd\nx\n", "act\n\n74\n"}) {
    Scripted team({text});
    EXPECT_THROW(exchange(team, "act", {}), InternalError) << text;
  }
}

TEST(RankVerdictTest, TheFirstFailureIsThrownAsWhatItWas) {
  const auto failed = [](Exit exit) {
    return std::vector<RankVerdict>{
        {Kind::done, ""}, {Kind::failed, "[checkpoint] no disk", exit}, {Kind::failed, "x"}};
  };
  require_success("writing step-1", {{Kind::done, ""}, {Kind::working, ""}});
  EXPECT_EQ(error_text<IoError>([&] { require_success("writing step-1", failed(Exit::io)); }),
            "[checkpoint] writing step-1 failed on rank 1: no disk");
  EXPECT_THROW(require_success("x", failed(Exit::cannot_create)), CreateError);
  EXPECT_THROW(require_success("x", failed(Exit::data)), DataError);
  EXPECT_THROW(require_success("x", failed(Exit::no_input)), InputError);
  EXPECT_THROW(require_success("x", failed(Exit::resource)), ResourceError);
  EXPECT_THROW(require_success("x", failed(Exit::config)), ConfigError);
  EXPECT_THROW(require_success("x", failed(Exit::internal)), InternalError);
  try {
    require_success("x", failed(Exit::unavailable));
    ADD_FAILURE() << "threw nothing";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::unavailable);
  }
}

TEST(RankVerdictTest, ALongFailureIsCut) {
  const RankVerdict verdict = verdict_of([]() -> std::string { throw IoError(std::string(1'000'000, 'x')); });
  EXPECT_LT(verdict.text.size(), 5000U);
}

}  // namespace
}  // namespace titan::checkpoint
