#include "tests/faults/ranks.hpp"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace titan::cli {

std::vector<std::string> RanksTest::run(std::initializer_list<std::string> words) const {
  std::vector<std::string> out = {"train"};
  const std::vector<std::string> model = tiny_model();
  out.insert(out.end(), model.begin(), model.end());
  const std::string saboteur = std::filesystem::path(TITAN_FAULT_PLUGINS) / "saboteur.so";
  const std::vector<std::string> more = {
      "--plugin",       test_plugin("mischief"),           "--plugin",
      saboteur,         "--training.steps=1000000",        "--metrics.log_freq=1",
      "--debug.seed=1", "--comm.train_timeout_seconds=60", "--comm.init_timeout_seconds=60"};
  out.insert(out.end(), more.begin(), more.end());
  const char* backend = std::getenv("TITAN_TEST_CPU_BACKEND");
  if (backend != nullptr) out.push_back(std::string("--comm.cpu_backend=") + backend);
  out.insert(out.end(), words.begin(), words.end());
  return out;
}

Command RanksTest::launch(int num_ranks, const std::vector<std::string>& run,
                          std::initializer_list<std::string> flags) const {
  return titan({"launch", "--nproc-per-node", std::to_string(num_ranks)}).args(flags).args({"--"}).args(run);
}

Command RanksTest::by_hand(int rank, int num_ranks, int port, const std::vector<std::string>& run) const {
  return Command(titan_program(), folder_)
      .args(run)
      .env("RANK", std::to_string(rank))
      .env("WORLD_SIZE", std::to_string(num_ranks))
      .env("MASTER_ADDR", "127.0.0.1")
      .env("MASTER_PORT", std::to_string(port));
}

bool RanksTest::wait_until(const std::function<bool()>& condition) {
  for (int tries = 0; tries < 3000; ++tries) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

bool RanksTest::wait_for_step(int step) const {
  const std::string wanted = "\"step\": " + std::to_string(step) + ",";
  return wait_until([&] { return read(dump_folder() / "metrics.jsonl").find(wanted) != std::string::npos; });
}

std::optional<std::string> variable_of(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  const std::string start = name + "=";
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (entry.starts_with(start)) return entry.substr(start.size());
  }
  return std::nullopt;
}

pid_t pid_of_rank(pid_t launcher, int rank) {
  const std::string children = "/proc/" + std::to_string(launcher) + "/task/" + std::to_string(launcher) + "/children";
  for (int tries = 0; tries < 3000; ++tries) {
    std::ifstream file(children);
    for (pid_t pid = 0; file >> pid;) {
      // A child that has not executed its program yet has the launcher's environment.
      if (variable_of(pid, "RANK") == std::to_string(rank)) return pid;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return 0;
}

bool is_alive(pid_t pid) {
  const std::string stat = read("/proc/" + std::to_string(pid) + "/stat");
  return !stat.empty() && stat.find(") Z") == std::string::npos;
}

}  // namespace titan::cli
