#include "tests/faults/saved_steps.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/checkpoint/disk.hpp"
#include "core/checkpoint/read.hpp"
#include "core/checkpoint/step_folders.hpp"

namespace titan::cli {

namespace {

constexpr const char* kTracer = "/usr/bin/strace";

}  // namespace

std::vector<std::string> SavedStepsTest::saving(int steps, std::initializer_list<std::string> words) const {
  std::vector<std::string> out = run({"--checkpoint.enable", "--checkpoint.interval=5", "--checkpoint.keep_latest_k=2",
                                      "--checkpoint.last_save_model_only=false"});
  out.push_back("--training.steps=" + std::to_string(steps));
  out.insert(out.end(), words.begin(), words.end());
  return out;
}

std::filesystem::path SavedStepsTest::step(int number) const { return checkpoints() / checkpoint::step_name(number); }

std::vector<std::int64_t> SavedStepsTest::whole_steps() const {
  const std::vector<std::int64_t> steps = checkpoint::committed_steps(checkpoints());
  for (const std::int64_t number : steps) {
    const std::filesystem::path path = checkpoints() / checkpoint::step_name(number);
    try {
      EXPECT_THAT(checkpoint::verify(checkpoint::open_titan(path)), testing::IsEmpty()) << path;
    } catch (const Error& error) {
      ADD_FAILURE() << path << ": " << error.what();
    }
  }
  return steps;
}

std::int64_t SavedStepsTest::last_step() const {
  const std::string rows = read(dump_folder() / "metrics.jsonl");
  const std::string name = "\"step\": ";
  const std::size_t at = rows.rfind(name);
  return at == std::string::npos ? 0 : std::stoll(rows.substr(at + name.size()));
}

bool SavedStepsTest::wait_for_checkpoint(int number) const {
  return wait_until([&] { return checkpoint::why_not_committed(step(number)).empty(); });
}

void SavedStepsTest::expect_to_go_on(int steps, int num_ranks) const {
  const std::vector<std::string> words = saving(steps);
  const Outcome outcome = num_ranks == 1 ? alone(words).run() : launch(num_ranks, words).run();
  EXPECT_THAT(outcome, ExitsWith(0));
  EXPECT_EQ(last_step(), steps);
  EXPECT_EQ(whole_steps().back(), steps);
  for (const std::string& name : checkpoint::names_in(checkpoints())) {
    EXPECT_TRUE(checkpoint::step_of_name(name) || name.starts_with("abandoned-")) << name;
  }
}

bool can_trace() {
  if (!std::filesystem::exists(kTracer)) return false;
  const TemporaryFolder folder;
  return Command(kTracer, folder).args({"-f", "-qq", "-o", "/dev/null", "true"}).run().status == 0;
}

Command traced(const TemporaryFolder& folder, const std::string& injection, const std::vector<std::string>& words) {
  const std::string call = injection.substr(0, injection.find(':'));
  return Command(kTracer, folder)
      .args({"-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e", "inject=" + injection})
      .args({titan_program().string()})
      .args(words);
}

}  // namespace titan::cli
