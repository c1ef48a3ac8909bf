#include "tests/unit/train/tiny_model.hpp"

#include "core/base/abi_error.hpp"
#include "tests/support/vectors.hpp"
#include "tests/unit/train/tiny_run.hpp"

namespace titan::train::tiny {
namespace {

titan_error* facts(void* ctx, std::int64_t, titan_model_facts* out) {
  out->vocab_size = static_cast<TinyModel*>(ctx)->vocabulary;
  out->num_flops_per_token = 42;
  return nullptr;
}

titan_error* build(void* ctx, titan_tree* tree) {
  return abi_guard(
      [&] { add_tiny_model(*reinterpret_cast<nn::Tree*>(tree), static_cast<TinyModel*>(ctx)->vocabulary); });
}

constexpr titan_model_v1 kTable{sizeof kTable, &facts, &build, nullptr, nullptr};

}  // namespace

PluginInterface<titan_model_v1> TinyModel::plugin() { return {"tiny", this, &kTable}; }

Settings tiny_settings(const test::TemporaryFolder& folder) {
  std::string text;
  for (int line = 0; line < 40; ++line) text += "{\"text\": \"the quick brown fox jumps over the lazy dog\"}\n";
  folder.write("corpus.jsonl", text);
  return {{"hf_assets_path", (titan::testing::vectors_dir() / "tokenizer").string()},
          {"dataloader.dataset_path", (folder / "corpus.jsonl").string()},
          {"dump_folder", folder.path().string()},
          {"training.steps", "3"},
          {"training.num_tokens_per_microbatch_per_dp_rank", "32"},
          {"training.max_context_length", "16"},
          {"lr_scheduler.warmup_steps", "0"},
          {"debug.seed", "1"}};
}

}  // namespace titan::train::tiny
