#include "plugins/observability/metrics/metrics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/unit/sdk/fake_host.hpp"

namespace titan::observability {
namespace {

namespace fs = std::filesystem;

class MetricsTest : public testing::Test {
 protected:
  MetricsTest() {
    std::string pattern = testing::TempDir() + "observer_XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    dump_folder_ = folder_.string();
    host_.declare("metrics.log_freq", TITAN_OPTION_INT, "2");
    host_.declare("metrics.disable_color_printing", TITAN_OPTION_BOOL, "true");
    for (const char* axis : {"tensor", "context", "pipeline"}) {
      host_.declare(std::string("parallelism.") + axis + "_parallel_degree", TITAN_OPTION_INT, "1");
    }
  }
  ~MetricsTest() override { fs::remove_all(folder_); }

  titan_run_event run(std::int64_t first_step = 1) const {
    titan_run_event event{};
    event.struct_size = sizeof event;
    event.dump_folder = {dump_folder_.data(), dump_folder_.size()};
    event.first_step = first_step;
    event.last_step = 5;
    return event;
  }
  static titan_step_event step(std::int64_t number) {
    titan_step_event event{};
    event.struct_size = sizeof event;
    event.step = number;
    event.is_last = number == 5 ? 1 : 0;
    event.loss = 10.0 - static_cast<double>(number);
    event.step_seconds = 1;
    event.num_tokens = 100;
    return event;
  }
  static titan_validation_event validation(std::int64_t step) {
    titan_validation_event event{};
    event.struct_size = sizeof event;
    event.step = step;
    event.loss = 6.5;
    return event;
  }

  std::string content(const char* name) const {
    std::ostringstream text;
    std::ifstream file(folder_ / name);
    text << file.rdbuf();
    return text.str();
  }
  std::vector<int> logged_steps(const char* name = "metrics.jsonl") const {
    std::vector<int> steps;
    std::istringstream lines(content(name));
    for (std::string line; std::getline(lines, line);) steps.push_back(std::stoi(line.substr(line.find(':') + 1)));
    return steps;
  }
  std::size_t count(const std::string& text) const {
    std::size_t found = 0;
    for (const std::string& line : host_.log()) found += line.find(text) != std::string::npos ? 1 : 0;
    return found;
  }

  fs::path folder_;
  std::string dump_folder_;
  test::FakeHost host_;
};

TEST_F(MetricsTest, WritesARowAndALineForEachLoggedStep) {
  Metrics observer{sdk::Host(host_.table())};
  observer.run_begin(run());
  for (std::int64_t number = 1; number <= 5; ++number) observer.step_end(step(number));
  observer.run_end({});
  EXPECT_THAT(logged_steps(), testing::ElementsAre(1, 2, 4, 5));
  EXPECT_EQ(count("] step: "), 4U);
  EXPECT_EQ(count("[metrics] step:  4  loss: 6.00000"), 1U);
  EXPECT_EQ(count("training completed: last step 0"), 1U);
}

TEST_F(MetricsTest, EarlyEndsAreNamedSo) {
  Metrics observer{sdk::Host(host_.table())};
  titan_run_end_event end{};
  end.struct_size = sizeof end;
  end.code = TITAN_ERROR_NON_FINITE;
  end.step = 3;
  observer.run_end(end);
  EXPECT_EQ(count("training ended early: last step 3"), 1U);
}

TEST_F(MetricsTest, ValidationsHaveTheirOwnFile) {
  Metrics observer{sdk::Host(host_.table())};
  observer.run_begin(run());
  observer.step_end(step(1));
  EXPECT_FALSE(fs::exists(folder_ / "validation.jsonl"));
  observer.validation(validation(1));
  EXPECT_THAT(content("validation.jsonl"), testing::StartsWith("{\"step\": 1, \"loss\": 6.5, "));
  EXPECT_EQ(count("validate step:  1"), 1U);
}

TEST_F(MetricsTest, AFreshRunKeepsOldFiles) {
  for (int i = 0; i < 2; ++i) {
    Metrics observer{sdk::Host(host_.table())};
    observer.run_begin(run());
    observer.step_end(step(1));
    observer.validation(validation(1));
  }
  EXPECT_THAT(logged_steps("metrics.1.jsonl"), testing::ElementsAre(1));
  EXPECT_THAT(logged_steps("validation.1.jsonl"), testing::ElementsAre(1));
  EXPECT_THAT(logged_steps(), testing::ElementsAre(1));
}

TEST_F(MetricsTest, AResumedRunContinuesTheFile) {
  {
    Metrics first{sdk::Host(host_.table())};
    first.run_begin(run());
    for (std::int64_t number = 1; number <= 4; ++number) first.step_end(step(number));
  }
  Metrics second{sdk::Host(host_.table())};
  second.run_begin(run(3));
  for (std::int64_t number = 3; number <= 5; ++number) second.step_end(step(number));
  EXPECT_THAT(logged_steps(), testing::ElementsAre(1, 2, 4, 5));
  EXPECT_FALSE(fs::exists(folder_ / "metrics.1.jsonl"));
}

TEST_F(MetricsTest, AFileThatFailsIsGivenUpOnce) {
  Metrics observer{sdk::Host(host_.table())};
  observer.run_begin(run());
  fs::create_directory(folder_ / "metrics.jsonl");
  for (std::int64_t number = 1; number <= 5; ++number) observer.step_end(step(number));
  EXPECT_EQ(count("no more lines go to metrics.jsonl"), 1U);
  EXPECT_EQ(count("] step: "), 4U);
}

TEST_F(MetricsTest, OnlyRankZeroWritesFilesAndEveryRankSpeaks) {
  titan_host second = *host_.table();
  second.rank = 1;
  second.world_size = 2;
  Metrics observer{sdk::Host(&second)};
  observer.run_begin(run());
  observer.step_end(step(1));
  observer.validation(validation(1));
  EXPECT_FALSE(fs::exists(folder_ / "metrics.jsonl"));
  EXPECT_FALSE(fs::exists(folder_ / "validation.jsonl"));
  EXPECT_EQ(count("] step: "), 1U);
}

TEST_F(MetricsTest, ColorsAreOnUnlessDisabled) {
  host_.set("metrics.disable_color_printing", "false");
  Metrics observer{sdk::Host(host_.table())};
  observer.run_begin(run());
  observer.step_end(step(1));
  EXPECT_EQ(count("\033[31mstep:  1"), 1U);
}

}  // namespace
}  // namespace titan::observability
