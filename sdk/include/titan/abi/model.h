/* titan.model/1: implemented by a model plugin.
 *
 * Model code is written for one device, in terms of local sizes, and contains no parallelism. Functions are called on
 * one thread per instance, between init and shutdown; the instance reads its options through host->config_get.
 */
#pragma once
#include "titan/abi/tree.h"

#define TITAN_MODEL_V1 "titan.model/1"

#ifdef __cplusplus
extern "C" {
#endif

/* Cost and shape facts, for metrics and for checks before anything starts. */
typedef struct titan_model_facts {
  uint32_t struct_size;
  uint32_t num_layers;
  int64_t vocab_size;
  int64_t dim;
  int64_t num_heads;
  int64_t num_kv_heads;
  int64_t head_dim;
  int64_t num_parameters;
  /* Forward and backward, per token at the given sequence length:
   * 6 * (parameters used in matrix products) + 6 * layers * heads * head dim * length. */
  double num_flops_per_token;
  /* Since 0.3: experts of a mixture; 0: the model has none. Of its cost only those that a token goes to count. */
  int64_t num_experts;
} titan_model_facts;

/* How a Hugging Face tensor becomes ours. */
enum {
  TITAN_HF_SAME = 0,
  TITAN_HF_ROPE_HALVES = 1, /* rows [heads, 2, H/2, in] there are [heads, H/2, 2, in] here: half rotation -> pairs */
  TITAN_HF_STACKED = 2      /* one tensor there for each index of dim 0 here: the index stands for '*' in hf_name */
};

/* One parameter's name on the hub. Frozen: never grows. */
typedef struct titan_hf_name {
  titan_string name;    /* ours: "layers.0.attention.wq.weight" */
  titan_string hf_name; /* theirs: "model.layers.0.self_attn.q_proj.weight" */
  int32_t transform;    /* TITAN_HF_* */
  int32_t num_heads;    /* for ROPE_HALVES: heads of this tensor; for STACKED: how many tensors */
} titan_hf_name;

typedef struct titan_model_v1 {
  uint32_t struct_size;

  /* Facts of the configured model at `sequence_length` tokens. Fills what out->struct_size covers. */
  titan_error* (*facts)(void* ctx, int64_t sequence_length, titan_model_facts* out);
  /* Declares the configured model in an empty tree, through `titan.tree/1`. */
  titan_error* (*build)(void* ctx, titan_tree* tree);
  /* Emits one entry per parameter of the configured model. An error of `emit` is returned at once. */
  titan_error* (*hf_names)(void* ctx, void* sink, titan_error* (*emit)(void* sink, const titan_hf_name* name));
  /* Translates the text of a hub config.json into option settings. Errors name what is missing or unsupported. */
  titan_error* (*hf_config)(void* ctx, titan_string json, void* sink,
                            titan_error* (*emit)(void* sink, titan_string option, titan_string value));
} titan_model_v1;

#ifdef __cplusplus
}
#endif
