#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "tests/cli/runner/command.hpp"

namespace titan::cli {

/// The program under test: TITAN_TEST_PROGRAM, or the one of this build.
std::filesystem::path titan_program();

/// A file the project ships: "tests/assets/tokenizer".
std::filesystem::path source(const std::filesystem::path& path);

/// A plugin built for these tests: "mischief".
std::filesystem::path test_plugin(const std::string& name);

/// Each test has a folder of its own, in which titan runs; runs dump to `outputs` there.
class CliTest : public testing::Test {
 protected:
  /// `titan` with these arguments.
  Command titan(std::initializer_list<std::string> args) const;

  /// `titan --module llama3 --config llama3_debugmodel` shrunk to milliseconds a step: one layer, 128 tokens a step,
  /// one thread, 3 steps; later arguments override. Uses the project's tokenizer and a corpus of 64 documents.
  Command tiny_run(std::initializer_list<std::string> args) const;
  std::vector<std::string> tiny_model() const;

  std::filesystem::path dump_folder() const { return folder_ / "outputs"; }

  TemporaryFolder folder_;
  std::filesystem::path corpus_ = folder_.write("corpus.jsonl", small_corpus());

 private:
  static std::string small_corpus();
};

/// The same for tests that train; skipped where this build has no engine.
class TrainTest : public CliTest {
 protected:
  void SetUp() override;
};

/// Matches an Outcome by its exit status.
MATCHER_P(ExitsWith, status, "exits with " + testing::PrintToString(status)) {
  *result_listener << arg.text();
  return arg.status == status && !arg.was_killed;
}

/// Matches an Outcome whose standard error contains a text.
MATCHER_P(Says, text, "says " + testing::PrintToString(text)) {
  *result_listener << arg.text();
  return arg.err.find(text) != std::string::npos;
}

/// Matches an Outcome whose standard output contains a text.
MATCHER_P(Prints, text, "prints " + testing::PrintToString(text)) {
  *result_listener << arg.text();
  return arg.out.find(text) != std::string::npos;
}

}  // namespace titan::cli
