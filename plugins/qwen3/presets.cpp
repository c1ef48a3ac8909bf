#include "plugins/qwen3/presets.hpp"

namespace titan::qwen3 {
namespace {

using sdk::Path;
using sdk::Preset;

Preset debugmodel() {
  return {"qwen3_debugmodel",
          "6 dense layers of 256 features with the test tokenizer: trains in minutes on a CPU",
          "",
          {
              {"model.dim", 256},
              {"model.n_layers", 6},
              {"model.n_heads", 8},
              {"model.n_kv_heads", 4},
              {"model.head_dim", 64},
              {"model.vocab_size", 2048},
              {"model.hidden_dim", 768},
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

Preset debugmodel_moe() {
  return {"qwen3_debugmodel_moe",
          "6 layers of 256 features with 8 experts each, 2 for a token: trains in minutes on a CPU",
          "qwen3_debugmodel",
          {
              {"model.num_experts", 8},
              {"model.top_k", 2},
              {"model.moe_inter_dim", 256},
          }};
}

Preset size_0_6b() {
  return {"qwen3_0.6b",
          "Qwen3 0.6B",
          "",
          {
              {"model.dim", 1024},
              {"model.n_layers", 28},
              {"model.n_heads", 16},
              {"model.n_kv_heads", 8},
              {"model.head_dim", 128},
              {"model.vocab_size", 151936},
              {"model.hidden_dim", 3072},
              {"model.enable_weight_tying", true},
              {"hf_assets_path", Path{"./assets/hf/Qwen3-0.6B"}},
              {"dataloader.dataset_path", Path{"./assets/c4"}},
              {"training.steps", 1000},
              {"training.num_tokens_per_microbatch_per_dp_rank", 4 * 4096},
              {"training.max_context_length", 4096},
              {"optimizer.lr", 3e-4},
              {"validator.freq", 500},
              {"validator.steps", 1200},
          }};
}

Preset size_1_7b() {
  return {"qwen3_1.7b",
          "Qwen3 1.7B",
          "qwen3_0.6b",
          {
              {"model.dim", 2048},
              {"model.hidden_dim", 6144},
              {"hf_assets_path", Path{"./assets/hf/Qwen3-1.7B"}},
          }};
}

Preset size_4b() {
  return {"qwen3_4b",
          "Qwen3 4B",
          "qwen3_0.6b",
          {
              {"model.dim", 2560},
              {"model.n_layers", 36},
              {"model.n_heads", 32},
              {"model.hidden_dim", 9728},
              {"hf_assets_path", Path{"./assets/hf/Qwen3-4B"}},
          }};
}

Preset size_8b() {
  return {"qwen3_8b",
          "Qwen3 8B",
          "qwen3_0.6b",
          {
              {"model.dim", 4096},
              {"model.n_layers", 36},
              {"model.n_heads", 32},
              {"model.hidden_dim", 12288},
              {"model.enable_weight_tying", false},
              {"hf_assets_path", Path{"./assets/hf/Qwen3-8B"}},
              {"training.num_tokens_per_microbatch_per_dp_rank", 4096},
          }};
}

Preset size_14b() {
  return {"qwen3_14b",
          "Qwen3 14B",
          "qwen3_8b",
          {
              {"model.dim", 5120},
              {"model.n_layers", 40},
              {"model.n_heads", 40},
              {"model.hidden_dim", 17408},
              {"hf_assets_path", Path{"./assets/hf/Qwen3-14B"}},
          }};
}

Preset size_32b() {
  return {"qwen3_32b",
          "Qwen3 32B",
          "qwen3_8b",
          {
              {"model.dim", 5120},
              {"model.n_layers", 64},
              {"model.n_heads", 64},
              {"model.hidden_dim", 25600},
              {"hf_assets_path", Path{"./assets/hf/Qwen3-32B"}},
          }};
}

Preset size_30b_a3b() {
  return {"qwen3_30b_a3b",
          "Qwen3 30B with 128 experts a block, 8 for a token: 3B parameters at work",
          "qwen3_8b",
          {
              {"model.dim", 2048},
              {"model.n_layers", 48},
              {"model.n_kv_heads", 4},
              {"model.num_experts", 128},
              {"model.top_k", 8},
              {"model.moe_inter_dim", 768},
              {"hf_assets_path", Path{"./assets/hf/Qwen3-30B-A3B"}},
          }};
}

Preset size_235b_a22b() {
  return {"qwen3_235b_a22b",
          "Qwen3 235B with 128 experts a block, 8 for a token: 22B parameters at work",
          "qwen3_30b_a3b",
          {
              {"model.dim", 4096},
              {"model.n_layers", 94},
              {"model.n_heads", 64},
              {"model.moe_inter_dim", 1536},
              {"hf_assets_path", Path{"./assets/hf/Qwen3-235B-A22B"}},
          }};
}

// Sizes that many layouts divide, a head dim of its own, and a vocabulary that none divides.
Preset parity() {
  return {"qwen3_parity",
          "Small dense model in float64 for comparing layouts: 12 rows a step, odd vocabulary",
          "qwen3_debugmodel",
          {
              {"model.dim", 64},
              {"model.n_layers", 8},
              {"model.n_heads", 8},
              {"model.n_kv_heads", 4},
              {"model.head_dim", 16},
              {"model.vocab_size", 2049},
              {"model.hidden_dim", 176},
              {"training.max_context_length", 128},
              {"training.num_tokens_per_microbatch_per_dp_rank", 12 * 128},
              {"training.dtype", "float64"},
              {"training.mixed_precision_param", "float64"},
              {"training.mixed_precision_reduce", "float64"},
          }};
}

Preset parity_moe() {
  return {"qwen3_parity_moe",
          "The same with 8 experts a block, 2 for a token, kept in balance",
          "qwen3_parity",
          {
              {"model.num_experts", 8},
              {"model.top_k", 2},
              {"model.moe_inter_dim", 48},
              {"model.load_balance_coeff", 1e-3},
          }};
}

}  // namespace

std::vector<Preset> presets() {
  return {debugmodel(), debugmodel_moe(), size_0_6b(),    size_1_7b(),      size_4b(), size_8b(),
          size_14b(),   size_32b(),       size_30b_a3b(), size_235b_a22b(), parity(),  parity_moe()};
}

}  // namespace titan::qwen3
