#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "tests/distributed/process_runs.hpp"

namespace titan::cli {
namespace {

/// How far a prediction may be from what the allocator of the real run counts.
constexpr double kTolerance = 0.02;

struct Case {
  const char* name;
  int ranks;
  std::vector<std::string> words;
};
std::ostream& operator<<(std::ostream& out, const Case& tested) { return out << tested.name; }

class RehearsedMemory : public ProcessRunsTest, public ::testing::WithParamInterface<Case> {
 protected:
  std::vector<std::string> words() const {
    std::vector<std::string> words{"--training.steps",
                                   "2",
                                   "--training.max_context_length",
                                   "256",
                                   "--training.num_tokens_per_microbatch_per_dp_rank",
                                   "1024"};
    words.insert(words.end(), GetParam().words.begin(), GetParam().words.end());
    return words;
  }

  /// Of rank 0.
  std::int64_t predicted_peak(const char* device) const {
    const Outcome outcome = titan({"rehearse", "--json", "--world-size", std::to_string(GetParam().ranks), "--module",
                                   "llama3", "--config", "llama3_debugmodel", "--training.device", device})
                                .args(words())
                                .run();
    EXPECT_THAT(outcome, ExitsWith(0));
    const nlohmann::json report = nlohmann::json::parse(outcome.out);
    return report.at("ranks").at(0).at("memory").at("peak_bytes").get<std::int64_t>();
  }
};

// Over gloo a reduce-scatter has a copy of its input, and at its end the sum, until it is done; when that is, is up to
// the other rank. So the peak lies between one without these and one with both of them; without reduce-scatters that
// overlap with computation, and over shared memory, the two are one.
TEST_P(RehearsedMemory, PeaksAreThoseOfTheRealRun) {
  const std::vector<Metrics> rows = metrics_of("run", GetParam().ranks, words());
  ASSERT_EQ(rows.size(), 2U);
  const auto counted = static_cast<double>(std::max(rows[0].peak_memory_bytes, rows[1].peak_memory_bytes));
  const double least = static_cast<double>(predicted_peak("auto")) / counted - 1;
  const double most = static_cast<double>(predicted_peak("cpu")) / counted - 1;
  std::printf("%s: counted %.1f MiB, predicted %+.2f %% to %+.2f %%\n", GetParam().name, counted / (1024.0 * 1024.0),
              100 * least, 100 * most);
  EXPECT_LT(least, kTolerance);
  EXPECT_GT(most, -kTolerance);
  EXPECT_LE(least, most);
}

std::vector<std::string> with(const char* mode, std::vector<std::string> words = {}) {
  words.insert(words.end(), {"--activation_checkpoint.mode", mode});
  return words;
}
std::vector<std::string> over_gloo(std::vector<std::string> words) {
  words.insert(words.end(), {"--comm.cpu_backend", "gloo"});
  return words;
}
const std::vector<std::string> kFsdp = {"--parallelism.data_parallel_shard_degree", "2"};
const std::vector<std::string> kTp = {"--parallelism.tensor_parallel_degree", "2"};
const std::vector<std::string> kPp = {"--parallelism.pipeline_parallel_degree", "2",
                                      "--parallelism.num_pp_microbatches", "2"};
const std::vector<std::string> kLarge = {"--model.dim",
                                         "512",
                                         "--model.n_layers",
                                         "8",
                                         "--model.n_heads",
                                         "8",
                                         "--parallelism.data_parallel_shard_degree",
                                         "2"};

INSTANTIATE_TEST_SUITE_P(
    Debugmodel, RehearsedMemory,
    ::testing::Values(Case{"one_none", 1, with("none")}, Case{"one_full", 1, with("full")},
                      Case{"fsdp2_none", 2, with("none", kFsdp)}, Case{"fsdp2_selective", 2, with("selective", kFsdp)},
                      Case{"fsdp2_full", 2, with("full", kFsdp)}, Case{"tp2_none", 2, with("none", kTp)},
                      Case{"tp2_selective", 2, with("selective", kTp)}, Case{"tp2_full", 2, with("full", kTp)},
                      Case{"pp2_none", 2, with("none", kPp)}, Case{"pp2_selective", 2, with("selective", kPp)},
                      Case{"pp2_full", 2, with("full", kPp)}, Case{"large_fsdp2_none", 2, with("none", kLarge)},
                      Case{"large_fsdp2_full", 2, with("full", kLarge)},
                      Case{"fsdp2_none_over_gloo", 2, with("none", over_gloo(kFsdp))},
                      Case{"large_fsdp2_full_over_gloo", 2, with("full", over_gloo(kLarge))}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace titan::cli
