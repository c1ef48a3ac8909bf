#include "plugins/parallel/pipeline/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "core/schedule/lint.hpp"
#include "core/schedule/render.hpp"
#include "core/schedule/timeline.hpp"
#include "tests/unit/parallel/pipeline/lint_rows.hpp"
#include "titan/sdk/error.hpp"

namespace titan::parallel::pipeline {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string refusal(const Options& options, const Request& request) {
  try {
    make_plan(options, request);
    return "nothing was refused";
  } catch (const sdk::ConfigError& error) {
    return error.what();
  }
}

/// Both passes of a pipeline, without a problem.
void expect_sound(const Options& options, Request request) {
  for (const bool training : {true, false}) {
    request.training = training;
    const schedule::Table table = table_of(make_plan(options, request), request);
    EXPECT_THAT(schedule::lint(table), IsEmpty())
        << options.schedule << ", " << request.num_ranks << " ranks, " << table.num_stages() << " stages, "
        << request.num_micro_batches << " micro-batches";
  }
}

// Every size that people use: under both rules of sends nothing locks up and everything is done once.
TEST(Plan, EverySizeOfEveryScheduleIsSound) {
  for (std::uint32_t ranks = 2; ranks <= 8; ++ranks) {
    for (std::uint32_t micro_batches = ranks; micro_batches <= 16; ++micro_batches) {
      for (const char* schedule : {"GPipe", "1F1B"}) {
        Options options;
        options.schedule = schedule;
        expect_sound(options, {ranks, chain(10), micro_batches, true});
      }
      if (micro_batches % (micro_batches / ranks) != 0) continue;
      for (int per_rank = 2; per_rank <= 4; ++per_rank) {
        Options options;
        options.schedule = "Interleaved1F1B";
        options.layers_per_stage = 1;
        expect_sound(options, {ranks, chain(static_cast<int>(ranks) * per_rank - 2), micro_batches, true});
      }
    }
  }
}

TEST(Plan, BubbleSharesAreTheKnownOnes) {
  const auto timeline = [](const char* schedule, int layers) {
    Options options;
    options.schedule = schedule;
    const Request request{4, chain(layers), 8, true};
    return schedule::simulate_time(table_of(make_plan(options, request), request));
  };
  // (p - 1) / (m + p - 1), and with v stages a rank (p - 1) / (m v + p - 1).
  EXPECT_DOUBLE_EQ(timeline("GPipe", 10).bubble_share, 3.0 / 11);
  EXPECT_DOUBLE_EQ(timeline("1F1B", 10).bubble_share, 3.0 / 11);
  EXPECT_DOUBLE_EQ(timeline("Interleaved1F1B", 14).bubble_share, 3.0 / 19);
  EXPECT_THAT(timeline("GPipe", 10).peak_live, ::testing::ElementsAre(8, 8, 8, 8));
  EXPECT_THAT(timeline("1F1B", 10).peak_live, ::testing::ElementsAre(4, 3, 2, 1));
  EXPECT_THAT(timeline("Interleaved1F1B", 14).peak_live, ::testing::ElementsAre(11, 9, 7, 5));
}

/// "| 1F1B | 1 | 27.3 % | 4, 3, 2, 1 |", from a timeline.
std::string row_of_docs(const char* schedule, int per_rank) {
  Options options;
  options.schedule = schedule;
  const Request request{4, chain(14), 8, true};
  const std::string said = schedule::describe(schedule::simulate_time(table_of(make_plan(options, request), request)));
  const std::size_t share = said.find("share ") + 6, peaks = said.find("rank: ") + 6;
  return sdk::concat("| ", schedule, " | ", per_rank, " | ", said.substr(share, said.find(" of") - share), " | ",
                     said.substr(peaks), " |");
}

TEST(Plan, TheTableOfTheDocsIsThatOfTheTimeline) {
  std::ifstream file(TITAN_PARALLELISM_PAGE);
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const std::string& row : {row_of_docs("GPipe", 1), row_of_docs("1F1B", 1), row_of_docs("Interleaved1F1B", 2)}) {
    EXPECT_THAT(page, HasSubstr(row));
  }
}

TEST(Plan, WhatIsTooLongIsRefusedBeforeItIsMade) {
  EXPECT_THAT(refusal({}, {4, chain(6), 1U << 30, true}),
              HasSubstr("4 stages x parallelism.num_pp_microbatches 1073741824 = 4294967296 forwards, at most 65536"));
  EXPECT_EQ(make_plan({}, {2, chain(2), 1U << 15, true}).rows.size(), 2U) << "as long as may be";
}

TEST(Plan, TooFewMicroBatchesAreRefused) {
  EXPECT_THAT(refusal({}, {4, chain(6), 3, true}),
              HasSubstr("parallelism.num_pp_microbatches 3, parallelism.pipeline_parallel_degree 4"));
  Options options;
  options.num_micro_batches = 1;
  EXPECT_THROW(check_options(options, 2, 6), sdk::ConfigError);
  options.num_micro_batches = 2;
  EXPECT_NO_THROW(check_options(options, 2, 6));
  options.num_micro_batches = 9;
  EXPECT_THROW(check_options(options, 9, 6), sdk::ConfigError) << "nine stages of six layers";
}

TEST(Plan, UnevenRoundsAreRefused) {
  Options options;
  options.schedule = "Interleaved1F1B";
  EXPECT_THAT(refusal(options, {2, chain(6), 5, true}), HasSubstr("5 / 2 ranks = 2 rounds, 5 = 2 x 2 + 1"));
}

/// A file that is gone with the test.
class PlanOfFile : public ::testing::Test {
 protected:
  Options with(const std::string& text) const {
    std::ofstream(path_) << text;
    Options options;
    options.csv = path_;
    return options;
  }
  ~PlanOfFile() override { std::remove(path_.c_str()); }
  std::string path_ =
      ::testing::TempDir() + "titan_plan_" + ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv";
};

TEST_F(PlanOfFile, TransfersAreAddedAndStagesFound) {
  const Options options = with("0F0,0F1,,0B0,0B1\n1F0,1F1,1B0,1B1\n");
  const Request request{2, chain(2), 2, true};
  expect_sound(options, request);
  EXPECT_EQ(make_plan(options, request).stages[1][0].index, 1U);
}

TEST_F(PlanOfFile, AVMayPutNeighboursOnOneRank) {
  expect_sound(with("0F0,0F1,3F0,3B0,3F1,3B1,0B0,0B1\n1F0,2F0,1F1,2F1,2B0,1B0,2B1,1B1\n"), {2, chain(2), 2, true});
}

TEST_F(PlanOfFile, TransfersOfTheFileStayAsTheyAre) {
  const Options options = with(
      "0F0,0SEND_F0,0F1,0SEND_F1,0RECV_B0,0B0,0RECV_B1,0B1\n1RECV_F0,1F0,1RECV_F1,1F1,1B0,1SEND_B0,1B1,1SEND_B1\n");
  const Request request{2, chain(2), 2, true};
  expect_sound(options, request);
  EXPECT_EQ(text_of(make_plan(options, request).rows[1]), "1RECV_F0 1F0 1RECV_F1 1F1 1B0 1SEND_B0 1B1 1SEND_B1");
}

TEST_F(PlanOfFile, ItsSizesMustFit) {
  const Options options = with("0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n");
  EXPECT_THAT(refusal(options, {2, chain(2), 4, true}),
              HasSubstr("2 micro-batches, parallelism.num_pp_microbatches 4"));
  EXPECT_THAT(refusal(options, {3, chain(2), 4, true}), HasSubstr("2 lines, 3 ranks"));
  Options named = options;
  named.modules = {"tok_embeddings", "layers.0 layers.1", "norm output"};
  EXPECT_THAT(refusal(named, {2, chain(2), 2, true}), HasSubstr("equally many stages: 2, 3"));
}

TEST(Plan, OptionsThatContradictEachOtherAreRefused) {
  Options options;
  options.layers_per_stage = 4;
  options.modules = {"tok_embeddings layers.0 layers.1", "norm output"};
  const Request request{2, chain(2), 2, true};
  EXPECT_THAT(refusal(options, request), HasSubstr("parallelism.pipeline_parallel_layers_per_stage 4, "
                                                   "parallelism.module_fqns_per_model_part of 2: leave one"));
  options.modules.clear();
  options.csv = "order.csv";
  EXPECT_THAT(refusal(options, request), HasSubstr("how many stages there are: order.csv, "
                                                   "parallelism.pipeline_parallel_layers_per_stage 4"));
  options.layers_per_stage.reset();
  options.schedule = "GPipe";
  EXPECT_THAT(refusal(options, request), HasSubstr("parallelism.pipeline_parallel_schedule GPipe, "
                                                   "parallelism.pipeline_parallel_schedule_csv order.csv"));
  EXPECT_THROW(check_options(options, 2, 2), sdk::ConfigError);
}

TEST(Plan, TooFewMicroBatchesNameTheRemedy) {
  EXPECT_THAT(refusal({}, {2, chain(2), 1, true}),
              HasSubstr("parallelism.pipeline_parallel_degree 2: set --parallelism.num_pp_microbatches to at least 2"));
}

TEST_F(PlanOfFile, AStageFarAwayIsTooLong) {
  const Options options = with("0F0,0F1,0B0,0B1\n1000000F0,1000000F1,1000000B0,1000000B1\n");
  EXPECT_THAT(refusal(options, {2, chain(2), 2, true}), HasSubstr("a schedule is too long: 1000001 stages"));
}

TEST_F(PlanOfFile, AStageThatIsMissingIsNamed) {
  const Options options = with("0F0,0F1,0B0,0B1\n2F0,2F1,2B0,2B1\n");
  EXPECT_THAT(refusal(options, {2, chain(2), 2, true}), HasSubstr("1B0 is missing, rank 0 needs it for 0B0"));
}

TEST(Planner, AnswersTheLastRequestAgain) {
  const std::vector<std::string> blocks = chain(2);
  std::vector<titan_string> names;
  for (const std::string& block : blocks) names.push_back({block.data(), block.size()});
  titan_schedule_request request{sizeof request, 2, names.data(), 5, 2, 1};
  Planner planner;
  const Plan* first = &planner.plan({}, request);
  const auto* row = first->rows[0].data();
  EXPECT_EQ(planner.plan({}, request).rows[0].data(), row);
  request.num_micro_batches = 3;
  EXPECT_EQ(text_of(planner.plan({}, request).rows[0]).substr(0, 11), "0F0 0SEND_F");
  request.num_micro_batches = 1;
  EXPECT_THROW(planner.plan({}, request), sdk::ConfigError);
  request.num_micro_batches = 2;
  EXPECT_EQ(planner.plan({}, request).rows.size(), 2U) << "a refusal is forgotten";
}

}  // namespace
}  // namespace titan::parallel::pipeline
