#include "tests/distributed/process_runs.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

namespace titan::cli {
namespace {

Metrics metrics_from(const std::string& line) {
  const nlohmann::json json = nlohmann::json::parse(line);
  return {json.at("step").get<std::int64_t>(), json.at("loss").get<double>(), json.at("grad_norm").get<double>(),
          json.at("tokens").get<std::int64_t>(), json.at("peak_memory_bytes").get<std::int64_t>()};
}

}  // namespace

std::vector<Metrics> ProcessRunsTest::metrics_of(const std::string& name, int num_ranks,
                                                 const std::vector<std::string>& words) const {
  Command command = titan({});
  if (num_ranks > 1) command.args({"launch", "--nproc-per-node", std::to_string(num_ranks), "--", "train"});
  // One thread a rank, whatever their number: the ranks of the test share the cores with other tests.
  command.args({"--module", "llama3", "--config", "llama3_debugmodel", "--dump_folder", folder_of(name).string(),
                "--hf_assets_path", source("tests/assets/tokenizer").string(), "--dataloader.dataset_path",
                source("tests/assets/corpus").string(), "--training.num_threads", "1", "--metrics.log_freq", "1",
                "--debug.seed", "7"});
  const Outcome outcome = command.args(words).limit(300).run();
  EXPECT_THAT(outcome, ExitsWith(0)) << name;
  std::vector<Metrics> rows;
  std::istringstream lines(read(folder_of(name) / "metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) rows.push_back(metrics_from(line));
  return rows;
}

}  // namespace titan::cli
