#include "core/app/compare/run_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "tests/unit/base/temporary_folder.hpp"
#include "tests/unit/base/thrown.hpp"

namespace titan::app {
namespace {

using testing::HasSubstr;
using titan::test::thrown_by;

const std::vector<std::string> kColumns = {"loss", "grad_norm"};

RunTable rows(const std::string& text) { return read_metric_rows(text, "m.jsonl", kColumns); }

std::string refusal(const std::string& text) {
  const auto thrown = thrown_by([&] { rows(text); });
  EXPECT_EQ(thrown.exit, Exit::data) << text;
  return thrown.message;
}

TEST(RunReaderTest, ReadsTheColumnsAskedFor) {
  const RunTable table = rows(
      "{\"step\": 1, \"loss\": 8.5, \"tps\": 7, \"grad_norm\": 2}\n\n"
      "{\"step\": 10, \"loss\": null, \"grad_norm\": 1e-3}\r\n");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows.at(1), (std::vector<double>{8.5, 2}));
  EXPECT_TRUE(std::isnan(table.rows.at(10)[0]));
  EXPECT_EQ(table.rows.at(10)[1], 1e-3);
  EXPECT_TRUE(table.has("tps"));
  EXPECT_FALSE(table.has("mfu"));
}

TEST(RunReaderTest, AMissingNumberIsNone) { EXPECT_TRUE(std::isnan(rows("{\"step\": 1, \"loss\": 3}").rows.at(1)[1])); }

TEST(RunReaderTest, TheLaterRowOfAStepCounts) {
  const RunTable table = rows("{\"step\": 1, \"loss\": 3}\n{\"step\": 2, \"loss\": 2}\n{\"step\": 2, \"loss\": 1}");
  EXPECT_EQ(table.rows.at(2)[0], 1);
  EXPECT_EQ(table.num_repeated, 1U);
}

TEST(RunReaderTest, WrongRowsAreNamedByLine) {
  const std::string good = "{\"step\": 1, \"loss\": 3}\n";
  EXPECT_THAT(refusal(good + "{\"step\": 2, \"lo"), HasSubstr("m.jsonl:2:"));
  EXPECT_THAT(refusal(good + "\n[1]"), HasSubstr("m.jsonl:3: expected an object with a \"step\""));
  for (const char* step : {"", "\"step\": -1", "\"step\": 1.5", "\"step\": \"1\"", "\"step\": 18446744073709551615"}) {
    EXPECT_THAT(refusal(concat("{", step, "}")), HasSubstr("m.jsonl:1: expected an object with a \"step\""));
  }
  EXPECT_THAT(refusal("{\"step\": 1, \"loss\": \"low\"}"), HasSubstr("m.jsonl:1: expected a number or null: loss"));
  EXPECT_THAT(refusal("{\"step\": 1, \"loss\": 1e999}"), HasSubstr("m.jsonl:1:"));
  EXPECT_THAT(refusal("NaN"), HasSubstr("m.jsonl:1:1"));
}

TEST(RunReaderTest, HostileRowsAreBounded) {
  EXPECT_THAT(refusal("{\"step\": 1, \"x\": \"" + std::string(100'000, 'a') + "\"}"), HasSubstr("larger than allowed"));
  EXPECT_THAT(refusal(std::string(1000, '[')), HasSubstr("nested too deeply"));
}

class RunFolderTest : public testing::Test {
 protected:
  std::string write(const char* name, const char* content) const { return folder_.write(name, content).string(); }

  titan::test::TemporaryFolder folder_;
};

TEST_F(RunFolderTest, ADumpFolderHasRowsAndSettings) {
  write("metrics.jsonl", "{\"step\": 1, \"loss\": 3}\n");
  write("config.toml", "module = \"llama3\"\n[training]\nsteps = 7  # command line\n");
  const RunTable table = read_run(folder_.path().string(), kColumns);
  EXPECT_EQ(table.name, folder_.path().string());
  EXPECT_EQ(table.file, (folder_ / "metrics.jsonl").string());
  EXPECT_EQ(table.settings, (Settings{{"module", "llama3"}, {"training.steps", "7"}}));
}

TEST_F(RunFolderTest, AFileOfRowsHasNoSettings) {
  const RunTable table = read_run(write("other.jsonl", "{\"step\": 4, \"loss\": 3}"), kColumns);
  EXPECT_EQ(table.rows.begin()->first, 4);
  EXPECT_TRUE(table.settings.empty());
}

TEST_F(RunFolderTest, OtherFilesAreReferences) {
  EXPECT_EQ(read_run(write("golden.txt", "1 8.05\n"), kColumns).rows.at(1)[0], 8.05);
  const auto thrown = thrown_by([&] { read_run(write("row.json", "{\"step\": 4, \"loss\": 3}"), kColumns); });
  EXPECT_EQ(thrown.exit, Exit::data);
  EXPECT_THAT(thrown.message, HasSubstr("*.jsonl"));
}

TEST_F(RunFolderTest, WhatIsNotThereIsNoInput) {
  EXPECT_EQ(thrown_by([&] { read_run((folder_ / "gone").string(), kColumns); }).exit, Exit::no_input);
  const auto thrown = thrown_by([&] { read_run(folder_.path().string(), kColumns); });
  EXPECT_EQ(thrown.exit, Exit::no_input);
  EXPECT_THAT(thrown.message, HasSubstr("holds no metrics.jsonl"));
}

TEST_F(RunFolderTest, AnEmptyFileHasNoStep) {
  const auto thrown = thrown_by([&] { read_run(write("empty.jsonl", "\n"), kColumns); });
  EXPECT_EQ(thrown.exit, Exit::data);
  EXPECT_THAT(thrown.message, HasSubstr("there is no step in"));
}

}  // namespace
}  // namespace titan::app
