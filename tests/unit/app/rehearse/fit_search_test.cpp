#include "core/app/rehearse/fit_search.hpp"

#include <gtest/gtest.h>

#include <map>

#include "core/base/text.hpp"

namespace titan::app {
namespace {

FitChange change(const std::string& kind, const std::string& text) { return {kind, text, {{text, "1"}}}; }

const std::vector<FitChange> kChanges = {change("recomputation", "selective"), change("recomputation", "full"),
                                         change("micro-batch", "half"), change("degree", "tp")};

/// Peaks of 100 and steps of 10 seconds, which each change has its share of.
FitOutcome outcome(const std::vector<FitChange>& changes) {
  const std::map<std::string, std::pair<double, double>> shares{
      {"selective", {0.8, 1.1}}, {"full", {0.5, 1.3}}, {"half", {0.7, 1.05}}, {"tp", {0.55, 1.2}}};
  double memory = 100, time = 10;
  for (const FitChange& made : changes) {
    memory *= shares.at(made.text).first;
    time *= shares.at(made.text).second;
  }
  return {"", static_cast<std::int64_t>(memory), time};
}

std::string chosen(const FitSearch& search) {
  return search.chosen ? change_text(search.trials[*search.chosen].changes) : "none";
}

TEST(FitSearch, TakesTheFastestOfTheSingleChangesThatFit) {
  const FitSearch search = search_fit(outcome({}), 60, kChanges, &outcome);
  EXPECT_EQ(chosen(search), "tp");
  EXPECT_EQ(search.trials.size(), 4U);
  EXPECT_FALSE(search.trials[0].fits);
  EXPECT_TRUE(search.trials[1].fits);
}

TEST(FitSearch, FewerOptionsAreNearerThanATimeThatIsLess) {
  std::vector<FitChange> changes = {change("recomputation", "full"), change("degree", "tp")};
  changes[1].options.push_back({"more", "2"});
  const FitSearch search = search_fit(outcome({}), 60, changes, &outcome);
  EXPECT_EQ(chosen(search), "full");
  EXPECT_EQ(search.fastest, 1U);
}

TEST(FitSearch, TakesTwoKindsOfChangesWhereOneIsNotEnough) {
  const FitSearch search = search_fit(outcome({}), 40, kChanges, &outcome);
  EXPECT_EQ(chosen(search), "half; tp");
  EXPECT_EQ(search.trials.size(), 5U);
}

TEST(FitSearch, TakesThreeWhereTwoAreNotEnough) {
  EXPECT_EQ(chosen(search_fit(outcome({}), 20, kChanges, &outcome)), "full; half; tp");
}

TEST(FitSearch, SaysThatNothingFits) {
  const FitSearch search = search_fit(outcome({}), 1, kChanges, &outcome);
  EXPECT_EQ(chosen(search), "none");
  EXPECT_LE(search.trials.size(), search.most_trials);
}

TEST(FitSearch, EndsWhenTimeIsOut) {
  int left = 2;
  const FitSearch search = search_fit(outcome({}), 1, kChanges, &outcome, [&] { return left-- > 0; });
  EXPECT_EQ(search.trials.size(), 2U);
  EXPECT_TRUE(search.is_cut);
}

TEST(FitSearch, EndsAfterSoManyTrials) {
  std::vector<FitChange> many;
  for (int i = 0; i < 40; ++i) many.push_back(change(concat("kind ", i), concat("change ", i)));
  std::size_t tried = 0;
  const FitSearch search = search_fit({"", 100, 1}, 1, many, [&](const std::vector<FitChange>&) {
    ++tried;
    return FitOutcome{"", 90, 1};
  });
  EXPECT_EQ(tried, search.most_trials);
  EXPECT_EQ(search.trials.size(), tried);
}

TEST(FitSearch, WhatIsRefusedIsNotCombined) {
  const auto refuse = [](const std::vector<FitChange>& changes) {
    FitOutcome made = outcome(changes);
    if (change_text(changes).find("tp") != std::string::npos) made.refused = "heads do not divide";
    return made;
  };
  const FitSearch search = search_fit(outcome({}), 40, kChanges, refuse);
  EXPECT_EQ(chosen(search), "full; half");
  for (std::size_t i = kChanges.size(); i < search.trials.size(); ++i) {
    EXPECT_EQ(change_text(search.trials[i].changes).find("tp"), std::string::npos);
  }
}

TEST(FitSearch, ChangesThatSetAnOptionDifferentlyAreNotCombined) {
  const std::vector<FitChange> changes = {{"a", "one", {{"option", "1"}}}, {"b", "two", {{"option", "2"}}}};
  const FitSearch search = search_fit({"", 100, 1}, 1, changes, [](const std::vector<FitChange>&) {
    return FitOutcome{"", 50, 1};
  });
  EXPECT_EQ(search.trials.size(), 2U);
}

}  // namespace
}  // namespace titan::app
