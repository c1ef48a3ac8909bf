#include "tests/cli/runner/titan.hpp"

#include <array>
#include <cstdlib>
#include <sstream>

namespace titan::cli {

std::filesystem::path titan_program() {
  const char* named = std::getenv("TITAN_TEST_PROGRAM");
  return named == nullptr ? TITAN_BUILT_PROGRAM : named;
}

std::filesystem::path source(const std::filesystem::path& path) {
  return std::filesystem::path(TITAN_SOURCE_FOLDER) / path;
}

std::filesystem::path test_plugin(const std::string& name) {
  return std::filesystem::path(TITAN_TEST_PLUGINS) / (name + ".so");
}

Command CliTest::titan(std::initializer_list<std::string> args) const {
  return Command(titan_program(), folder_).args(args);
}

std::vector<std::string> CliTest::tiny_model() const {
  return {"--module",
          "llama3",
          "--config",
          "llama3_debugmodel",
          "--hf_assets_path",
          source("tests/assets/tokenizer"),
          "--dataloader.dataset_path",
          corpus_,
          "--model.dim=32",
          "--model.n_layers=1",
          "--model.n_heads=4",
          "--training.max_context_length=64",
          "--training.num_tokens_per_microbatch_per_dp_rank=128",
          "--training.steps=3",
          "--lr_scheduler.warmup_steps=1",
          "--training.num_threads=1"};
}

Command CliTest::tiny_run(std::initializer_list<std::string> args) const {
  return Command(titan_program(), folder_).args(tiny_model()).args(args);
}

std::string CliTest::small_corpus() {
  constexpr std::array<const char*, 8> kWords = {"the", "river", "ran", "past", "an", "old", "stone", "mill"};
  std::ostringstream lines;
  for (std::size_t document = 0; document < 64; ++document) {
    lines << "{\"text\": \"";
    for (std::size_t word = 0; word < 40; ++word) {
      lines << kWords[(word * word + document * (word + 3)) % kWords.size()] << ' ';
    }
    lines << document << ".\"}\n";
  }
  return lines.str();
}

void TrainTest::SetUp() {
  const std::filesystem::path engine = titan_program().parent_path().parent_path() / "lib" / "libtitan_engine.so";
  if (!std::filesystem::exists(engine)) GTEST_SKIP() << "this build has no engine: " << engine;
}

}  // namespace titan::cli
