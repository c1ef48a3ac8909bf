#include "plugins/llama3/presets.hpp"

namespace titan::llama3 {
namespace {

using sdk::none;
using sdk::Path;
using sdk::Preset;

Preset debugmodel() {
  return {"llama3_debugmodel",
          "6 layers of 256 features with the test tokenizer: trains in minutes on a CPU",
          "",
          {
              {"model.dim", 256},
              {"model.n_layers", 6},
              {"model.n_heads", 16},
              {"model.n_kv_heads", none<int>},
              {"model.vocab_size", 2048},
              {"model.multiple_of", 256},
              {"model.ffn_dim_multiplier", none<double>},
              {"model.rope_theta", 500000.0},
              {"hf_assets_path", Path{"./tests/assets/tokenizer"}},
              {"dataloader.dataset_path", Path{"./tests/assets/corpus"}},
              {"dataloader.shuffle", false},
              {"training.steps", 10},
              {"training.num_tokens_per_microbatch_per_dp_rank", 8 * 2048},
              {"training.max_context_length", 2048},
              {"optimizer.lr", 8e-4},
              {"lr_scheduler.warmup_steps", 2},
              {"lr_scheduler.decay_ratio", 0.8},
              {"lr_scheduler.decay_type", "linear"},
              {"lr_scheduler.min_lr_factor", 0.0},
              {"validator.freq", 5},
              {"validator.steps", 10},
              {"metrics.log_freq", 1},
              {"activation_checkpoint.mode", "none"},
          }};
}

Preset size_8b() {
  return {"llama3_8b",
          "Llama 3.1 8B",
          "",
          {
              {"model.dim", 4096},
              {"model.n_layers", 32},
              {"model.n_heads", 32},
              {"model.n_kv_heads", 8},
              {"model.vocab_size", 128256},
              {"model.multiple_of", 1024},
              {"model.ffn_dim_multiplier", 1.3},
              {"model.rope_theta", 500000.0},
              {"hf_assets_path", Path{"./assets/hf/Llama-3.1-8B"}},
              {"dataloader.dataset_path", Path{"./assets/c4"}},
              {"training.steps", 1000},
              {"training.num_tokens_per_microbatch_per_dp_rank", 1 * 8192},
              {"training.max_context_length", 8192},
              {"optimizer.lr", 3e-4},
              {"validator.freq", 500},
              {"validator.steps", 1200},
          }};
}

Preset size_1b() {
  return {"llama3_1b",
          "Llama 3.2 1B",
          "llama3_8b",
          {
              {"model.dim", 2048},
              {"model.n_layers", 16},
              {"model.n_heads", 32},
              {"model.n_kv_heads", 8},
              {"model.multiple_of", 1024},
              {"model.ffn_dim_multiplier", 1.5},
              {"model.rope_scaling_factor", 32.0},
              {"model.enable_weight_tying", true},
              {"hf_assets_path", Path{"./assets/hf/Llama-3.2-1B"}},
          }};
}

Preset size_3b() {
  return {"llama3_3b",
          "Llama 3.2 3B",
          "llama3_8b",
          {
              {"model.dim", 3072},
              {"model.n_layers", 28},
              {"model.n_heads", 24},
              {"model.n_kv_heads", 8},
              {"model.multiple_of", 1024},
              {"model.ffn_dim_multiplier", 1.0},
              {"model.rope_scaling_factor", 32.0},
              {"model.enable_weight_tying", true},
              {"hf_assets_path", Path{"./assets/hf/Llama-3.2-3B"}},
          }};
}

Preset size_70b() {
  return {"llama3_70b",
          "Llama 3.1 70B",
          "llama3_8b",
          {
              {"model.dim", 8192},
              {"model.n_layers", 80},
              {"model.n_heads", 64},
              {"model.n_kv_heads", 8},
              {"model.multiple_of", 4096},
              {"model.ffn_dim_multiplier", 1.3},
              {"hf_assets_path", Path{"./assets/hf/Llama-3.1-70B"}},
              {"training.num_tokens_per_microbatch_per_dp_rank", 8 * 8192},
              {"activation_checkpoint.mode", "full"},
              {"optimizer.lr", 1.5e-4},
          }};
}

Preset size_405b() {
  return {"llama3_405b",
          "Llama 3.1 405B",
          "llama3_8b",
          {
              {"model.dim", 16384},
              {"model.n_layers", 126},
              {"model.n_heads", 128},
              {"model.n_kv_heads", 8},
              {"model.multiple_of", 4096},
              {"model.ffn_dim_multiplier", 1.2},
              {"hf_assets_path", Path{"./assets/hf/Llama-3.1-405B"}},
              {"training.steps", 3000},
              {"training.num_tokens_per_microbatch_per_dp_rank", 2 * 8192},
              {"activation_checkpoint.mode", "full"},
              {"optimizer.lr", 8e-5},
              {"lr_scheduler.warmup_steps", 600},
          }};
}

// Sizes that many layouts divide, and a vocabulary that none does.
Preset parity() {
  return {"llama3_parity",
          "Small model in float64 for comparing layouts: 12 rows a step, odd vocabulary",
          "llama3_debugmodel",
          {
              {"model.dim", 64},
              {"model.n_layers", 8},
              {"model.n_heads", 8},
              {"model.n_kv_heads", 4},
              {"model.vocab_size", 2049},
              {"model.multiple_of", 16},
              {"training.max_context_length", 128},
              {"training.num_tokens_per_microbatch_per_dp_rank", 12 * 128},
              {"training.dtype", "float64"},
              {"training.mixed_precision_param", "float64"},
              {"training.mixed_precision_reduce", "float64"},
          }};
}

}  // namespace

std::vector<Preset> presets() {
  return {debugmodel(), size_1b(), size_3b(), size_8b(), size_70b(), size_405b(), parity()};
}

}  // namespace titan::llama3
