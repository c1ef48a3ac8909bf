#include "benchmarks/observability/variant.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "benchmarks/process.hpp"
#include "core/base/text.hpp"

namespace titan::benchmark {
namespace {

namespace fs = std::filesystem;

/// Steps at the begin of a run that fill caches.
constexpr std::int64_t kWarmUp = 3;

std::string quoted(const fs::path& path) { return concat('\'', path.native(), '\''); }

}  // namespace

Runs::Runs(fs::path scratch) : scratch_(std::move(scratch)) { install_without_tools(); }

void Runs::install_without_tools() const {
  const fs::path plugins = scratch_ / "plain/lib/titan/plugins";
  fs::create_directories(scratch_ / "plain/bin");
  fs::create_directories(plugins);
  fs::copy_file(TITAN_BINARY, scratch_ / "plain/bin/titan");
  fs::create_symlink(TITAN_ENGINE_LIBRARY, scratch_ / "plain/lib/libtitan_engine.so");
  for (const char* name : {"llama3", "parallel"}) {
    for (const char* end : {".so", ".titan.json"}) {
      const std::string file = concat(name, end);
      fs::copy_file(fs::path(TITAN_PLUGIN_FOLDER) / file, plugins / file);
    }
  }
}

Variant Runs::off() const { return {"no tools", scratch_ / "plain/bin/titan", ""}; }
Variant Runs::on() const { return {"metrics, spans, flight recorder", TITAN_BINARY, ""}; }

Variant Runs::profiler(int steps) const {
  const std::string count = std::to_string(steps);
  return {"profiler", TITAN_BINARY,
          concat(" --profiler.enable_profiling --profiler.profiler_warmup 0 --profiler.profile_freq ", count,
                 " --profiler.profiler_active ", count)};
}

Variant Runs::memory() const {
  return {"memory recorder", TITAN_BINARY,
          " --profiler.enable_memory_snapshot --profiler.memory_snapshot_freq 1000000"};
}

std::string Runs::command(const Variant& variant, int steps) const {
  return concat(quoted(variant.titan),
                " --module llama3 --config llama3_debugmodel --training.max_context_length 128"
                " --training.num_tokens_per_microbatch_per_dp_rank 128 --training.num_threads 1 --debug.seed 1"
                " --hf_assets_path '" TITAN_ASSETS_FOLDER "/tokenizer' --dataloader.dataset_path '" TITAN_ASSETS_FOLDER
                "/corpus' --training.steps ",
                steps, " --dump_folder ", quoted(dump_folder()), variant.options);
}

std::vector<double> Runs::step_seconds(const Variant& variant, int steps) const {
  fs::remove_all(dump_folder());
  output_of(command(variant, steps));
  std::vector<double> seconds;
  std::ifstream rows(dump_folder() / "spans/rank_0.jsonl");
  for (std::string line; std::getline(rows, line);) {
    const auto row = nlohmann::json::parse(line);
    if (row["kind"] == "step" && row["step"] > kWarmUp) seconds.push_back(row["step_seconds"]);
  }
  if (seconds.empty()) throw std::runtime_error("a run without rows of steps: " + variant.name);
  return seconds;
}

std::int64_t Runs::instructions(const Variant& variant, int steps) const {
  fs::remove_all(dump_folder());
  const std::string output =
      output_of("valgrind --tool=callgrind --callgrind-out-file=/dev/null " + command(variant, steps));
  constexpr std::string_view kBefore = "Collected : ";
  const auto found = output.find(kBefore);
  if (found == std::string::npos) throw std::runtime_error("callgrind counted nothing:\n" + output);
  return std::stoll(output.substr(found + kBefore.size()));
}

}  // namespace titan::benchmark
