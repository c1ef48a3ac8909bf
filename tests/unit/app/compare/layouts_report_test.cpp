#include "core/app/compare/layouts_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace titan::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LayoutsReport agreeing() {
  LayoutsReport report;
  report.layout = "pp 1 x dp_replicate 1 x dp_shard 1 x cp 1 x tp 2 = 2 ranks";
  report.gradient_tolerance = report.weight_tolerance = 1e-9;
  report.steps.push_back({2.5, 2.5, 1.5, 1.5, true});
  report.parameters.push_back({"tok_embeddings.weight", 1e-15, 0, true, ""});
  report.parameters.push_back({"norm.weight", 2e-15, 0, true, ""});
  report.num_modules = 9;
  report.num_whole_modules = 4;
  return report;
}

LayoutsReport differing() {
  LayoutsReport report = agreeing();
  report.parameters[0] = {"tok_embeddings.weight", std::numeric_limits<double>::infinity(), 0, false, ""};
  report.parameters[1] = {"norm.weight", 1, 3e-3, false, "x 2 = tp: summed twice?"};
  return report;
}

TEST(LayoutsReport, SaysThatALayoutAgrees) {
  const std::string text = layouts_report(agreeing());
  EXPECT_THAT(text, HasSubstr("the layout agrees with one rank"));
  EXPECT_THAT(text, HasSubstr(" 1.0e-15        0  tok_embeddings.weight\n"));
  EXPECT_THAT(text, HasSubstr("step 1: loss 2.5 vs 2.5, gradient norm 1.5 vs 1.5\n"));
  EXPECT_THAT(text, HasSubstr("the outputs agree of 4 of 9 modules that give whole ones\n"));
  EXPECT_EQ(layouts_verdict(agreeing()), "");
}

TEST(LayoutsReport, MarksWhatDiffersAndSaysInWhichOrder) {
  const std::string text = layouts_report(differing());
  EXPECT_THAT(text, HasSubstr("!  1.0e+00  3.0e-03  norm.weight: x 2 = tp: summed twice?\n"));
  EXPECT_THAT(text, HasSubstr("first parameter that differs, in order of declaration: tok_embeddings.weight\n"));
  EXPECT_THAT(text, HasSubstr("2 of 2 parameters differ\n"));
  EXPECT_THAT(text, Not(HasSubstr("agrees with one rank")));
}

TEST(LayoutsReport, NamesTheFirstModule) {
  LayoutsReport report = differing();
  report.first_module = "layers.0.attention.rope";
  report.first_module_difference = 0.5;
  EXPECT_THAT(layouts_report(report), HasSubstr("in order of execution: layers.0.attention.rope (5.0e-01; 4 of 9"));
  EXPECT_THAT(layouts_verdict(report), HasSubstr("first module layers.0.attention.rope"));
}

TEST(LayoutsReport, TellsTheParameterWithAnExplanation) {
  EXPECT_EQ(layouts_verdict(differing()),
            "[compare] the layout differs from one rank: 2 of 2 parameters, norm.weight: gradient 1.0e+00, weight "
            "3.0e-03: x 2 = tp: summed twice?");
}

TEST(LayoutsReport, NamesABufferThatDiffers) {
  LayoutsReport report = agreeing();
  report.buffers.push_back({"layers.0.moe.expert_bias", 0, true, ""});
  report.buffers.push_back({"layers.1.moe.expert_bias", 2, false, "x 2 = tp: summed twice?"});
  EXPECT_EQ(layouts_verdict(report),
            "[compare] the layout differs from one rank: 0 of 2 parameters, 1 of 2 buffers, layers.1.moe.expert_bias: "
            "2.0e+00: x 2 = tp: summed twice?");
  const std::string text = layouts_report(report);
  EXPECT_THAT(text, HasSubstr("         0  layers.0.moe.expert_bias\n"));
  EXPECT_THAT(text, HasSubstr("!  2.0e+00  layers.1.moe.expert_bias: x 2 = tp: summed twice?\n"));
  EXPECT_THAT(text, HasSubstr("0 of 2 parameters, 1 of 2 buffers differ\n"));
  EXPECT_EQ(nlohmann::json::parse(layouts_json(report)).at("buffers").at(1).at("difference"), 2);
}

TEST(LayoutsReport, IsJsonWithoutNumbersThatAreNone) {
  const nlohmann::json json = nlohmann::json::parse(layouts_json(differing()));
  EXPECT_FALSE(json.at("agrees").get<bool>());
  EXPECT_TRUE(json.at("parameters").at(0).at("gradient").is_null());
  EXPECT_EQ(json.at("parameters").at(1).at("explanation"), "x 2 = tp: summed twice?");
  EXPECT_EQ(json.at("steps").at(0).at("loss"), 2.5);
  EXPECT_EQ(json.at("whole_modules"), 4);
}

}  // namespace
}  // namespace titan::app
