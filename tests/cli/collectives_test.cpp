#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/runner/titan.hpp"

namespace titan::cli {
namespace {

using Json = nlohmann::json;

/// What a stranger's observer hears of the ranks' collectives: sdk/examples/collective_counter, opened with --plugin.
class CollectivesTest : public TrainTest {
 protected:
  Outcome launch(std::initializer_list<std::string> args) const {
    return titan({"launch", "--nproc-per-node", "2", "--", "train"})
        .args(tiny_model())
        .args({"--plugin", TITAN_COLLECTIVE_COUNTER})
        .args(args)
        .run();
  }

  std::vector<Json> rows(int rank) const {
    std::istringstream lines(read(dump_folder() / "collectives" / ("rank_" + std::to_string(rank) + ".jsonl")));
    std::vector<Json> found;
    for (std::string line; std::getline(lines, line);) found.push_back(Json::parse(line));
    return found;
  }

  static Json step(const std::vector<Json>& rows, int number) {
    for (const Json& row : rows) {
      if (row["stretch"] == "step" && row["step"] == number) return row["collectives"];
    }
    ADD_FAILURE() << "no row of step " << number;
    return Json::array();
  }

  /// Calls of an operation in a group, by module.
  static std::map<std::string, int> counts(const Json& collectives, const std::string& group, const std::string& op) {
    std::map<std::string, int> found;
    for (const Json& entry : collectives) {
      if (entry["group"] == group && entry["op"] == op) found[entry["module"]] = entry["count"];
    }
    return found;
  }

  static int sum(const std::map<std::string, int>& counts) {
    int total = 0;
    for (const auto& [module, count] : counts) total += count;
    return total;
  }
};

TEST_F(CollectivesTest, AnObserverCountsThemByStep) {
  const Outcome outcome = launch({});
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_THAT(outcome, Says("[rank0]: "));
  EXPECT_THAT(outcome, Says("step 3: fsdp _allgather_base "));

  const std::vector<Json> first = rows(0);
  const std::vector<Json> second = rows(1);
  for (const int number : {2, 3}) {
    const Json here = step(first, number);
    const Json there = step(second, number);
    ASSERT_EQ(here.size(), there.size());
    for (std::size_t i = 0; i < here.size(); ++i) {
      for (const char* key : {"group", "op", "module", "group_size", "count", "failed", "bytes"}) {
        EXPECT_EQ(here[i][key], there[i][key]) << key << " of " << here[i];
      }
      EXPECT_EQ(here[i]["group_size"], 2);
      EXPECT_EQ(here[i]["failed"], 0);
    }
    EXPECT_EQ(sum(counts(here, "world", "all_reduce")), 2) << "a step's two agreements";

    const auto scatters = counts(here, "fsdp", "_reduce_scatter_base");
    const auto gathers = counts(here, "fsdp", "_allgather_base");
    ASSERT_TRUE(scatters.contains("layers.0")) << here;
    for (const auto& [module, count] : scatters) EXPECT_EQ(count, 1) << "one for each unit: " << module;
    EXPECT_EQ(gathers.size(), scatters.size());
    EXPECT_EQ(gathers.at("layers.0"), 2) << "before forward and before backward";
    EXPECT_EQ(sum(gathers), 2 * static_cast<int>(scatters.size()) - 1) << "the last unit stays gathered";
  }
}

TEST_F(CollectivesTest, ReplicasReduceOnceAStep) {
  const Outcome outcome = launch({"--parallelism.data_parallel_replicate_degree", "2",
                                  "--training.num_tokens_per_train_step", "512", "--collective_counter.no_log_steps"});
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_EQ(outcome.err.find("[collectives]"), std::string::npos);
  const std::vector<Json> found = rows(1);
  const auto reductions = counts(step(found, 1), "dp_replicate", "all_reduce");
  EXPECT_EQ(sum(reductions), 1) << "one bucket, whatever the number of micro-batches";
  EXPECT_EQ(sum(counts(step(found, 2), "dp_replicate", "all_reduce")), sum(reductions));
}

TEST_F(CollectivesTest, OneRankHasNone) {
  const Outcome outcome = tiny_run({"--plugin", TITAN_COLLECTIVE_COUNTER}).run();
  ASSERT_THAT(outcome, ExitsWith(0));
  EXPECT_TRUE(step(rows(0), 3).empty());
}

}  // namespace
}  // namespace titan::cli
