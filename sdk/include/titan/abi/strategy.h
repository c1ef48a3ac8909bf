/* titan.strategy/1: implemented by a parallelism plugin.
 *
 * A strategy never edits a model: it sets placements and attaches interceptors through titan.tree/1, and says so in the
 * ledger. Calls come on the rank's training thread, between init and shutdown, in the order of this struct;
 * interceptors and the micro-batch events come later, for each step. A callback may be NULL: the host leaves it out.
 */
#pragma once
#include "titan/abi/collective.h"
#include "titan/abi/model.h"
#include "titan/abi/tree.h"

#define TITAN_STRATEGY_V1 "titan.strategy/1"

#ifdef __cplusplus
extern "C" {
#endif

/* The degrees of the layout. The product of the axes is the number of ranks; ep is folded into dp_shard x cp x tp. */
typedef struct titan_mesh_facts {
  uint32_t struct_size;
  uint32_t world_size;
  uint32_t pp, dp_replicate, dp_shard, cp, tp, ep;
} titan_mesh_facts;

typedef struct titan_micro_batch {
  uint32_t struct_size;
  uint32_t index;   /* in the step, from 0 */
  int32_t is_last;  /* the step's last one: its backward ends with reduced gradients */
  int32_t training; /* 0: forward only (validation) */
  /* Since 0.3: the pipeline stage that runs, by its index in the model; 0 without a pipeline. */
  uint32_t stage;
} titan_micro_batch;

typedef struct titan_strategy_v1 {
  uint32_t struct_size;
  int32_t priority; /* of its interceptors, and the order among strategies: smaller runs further out */

  /* Before anything starts, without a mesh or tree. Error: names the option, the numbers, and what would fit. */
  titan_error* (*validate)(void* ctx, const titan_mesh_facts* mesh, const titan_model_facts* model);
  /* Sets placements and attaches interceptors. The parameters have no tensors yet. */
  titan_error* (*apply)(void* ctx, titan_tree* tree, titan_mesh* mesh);
  /* After the parameters exist; and again after anything but the optimizer changed them (a loaded checkpoint). */
  titan_error* (*materialised)(void* ctx);
  /* Before the forward of a micro-batch through a stage. In a pipeline others may begin and end before it ends;
   * is_last is then told of each stage: the last micro-batch whose backward runs through it. */
  titan_error* (*micro_batch_begin)(void* ctx, const titan_micro_batch* micro_batch);
  /* After the backward (or the forward, where there is none) of a micro-batch through a stage. */
  titan_error* (*micro_batch_end)(void* ctx, const titan_micro_batch* micro_batch);
  /* After the optimizer: parameters have changed. */
  titan_error* (*updated)(void* ctx);

  /* Since 0.3. Between a micro-batch's begin and end, before its backward. */
  titan_error* (*backward_begin)(void* ctx, const titan_micro_batch* micro_batch);
  /* This rank's part of a micro-batch of its data-parallel rank: tokens, labels, positions [B, L] int64 in; out the
   * same with this rank's columns. Outputs are owned by the caller. Inputs without a change may be given back. */
  titan_error* (*split_batch)(void* ctx, const titan_tensor in[3], titan_tensor out[3]);
  /* After the last micro-batch's end and before the ledger is checked: what is left to reduce. */
  titan_error* (*step_end)(void* ctx);

  /* Since 0.4. Forgets the step's gradients so far, its own boxes of them too: the step begins anew, or is left out. A
   * micro-batch may have begun and not ended. NULL: nothing to forget; with updated() and no discard() the host refuses
   * to run a step again or leave it out. */
  titan_error* (*discard)(void* ctx);
} titan_strategy_v1;

#ifdef __cplusplus
}
#endif
