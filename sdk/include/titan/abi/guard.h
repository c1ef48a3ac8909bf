/* titan.guard/1: implemented by tools that may stop, hold or repeat a step.
 *
 * Calls come on the rank's training thread. What a guard does together with other ranks it does on all of them: duties
 * are the same everywhere, and decisions are agreed by the host. Errors stop the run on all ranks.
 */
#pragma once
#include "titan/abi/collective.h"
#include "titan/abi/control.h"
#include "titan/abi/tree.h"

#define TITAN_GUARD_V1 "titan.guard/1"

#ifdef __cplusplus
extern "C" {
#endif

/* What a guard wants to be asked: bits. */
enum {
  TITAN_DUTY_ATTACH = 1, /* attach, before the parameters exist */
  TITAN_DUTY_STEP = 2,   /* step_begin */
  TITAN_DUTY_AROUND = 4, /* around each pass */
  TITAN_DUTY_JUDGE = 8,  /* judge each step; the same on all ranks */
  TITAN_DUTY_RERUN = 16, /* judge() a step whose loss or norm is not finite, whether or not JUDGE is set */
  TITAN_DUTY_BREAKPOINT = 32
};

/* The forward and backward of one micro-batch, or of the micro-batches of one run through a pipeline's schedule. */
typedef struct titan_pass {
  uint32_t struct_size;
  uint32_t index; /* in the step, from 0 */
  int64_t step;
  void* impl; /* the host's own */
  /* Runs forward and backward once: gradients are added to those of the step. Call at least once; before each further
   * time, rewind. loss_sum: of this rank's valid tokens. */
  titan_error* (*run)(const struct titan_pass* pass, double* loss_sum);
  /* Goes back to before the first run of the step's first pass: gradients, random state, buffers and ledger. Error for
   * a later pass, whose step has gradients of earlier ones. */
  titan_error* (*rewind)(const struct titan_pass* pass);
} titan_pass;

/* A step before its update. The numbers are agreed: the same on all ranks. */
typedef struct titan_outcome {
  uint32_t struct_size;
  int32_t is_finite; /* loss and norm */
  int64_t step;
  double loss;
  double grad_norm; /* before clipping */
  void* impl;
  /* Runs the whole step's forward and backward once more, from the random state and buffers it began with; on all
   * ranks. The gradients are then the second run's, and so are the numbers above. */
  titan_error* (*rerun)(const struct titan_outcome* outcome);
} titan_outcome;

enum {
  TITAN_DECISION_CONTINUE = 0,
  TITAN_DECISION_SKIP = 1, /* the step is counted, its update left out */
  TITAN_DECISION_STOP = 2
};

/* What one rank thinks. The gravest decision of all ranks counts; texts of those who made it are joined, in order of
 * rank. */
typedef struct titan_judgement {
  uint32_t struct_size;
  int32_t decision; /* TITAN_DECISION_* */
  int32_t code;     /* of a stop: TITAN_ERROR_* */
  int32_t reserved;
  titan_string text; /* why; alive until the guard's next call */
} titan_judgement;

typedef struct titan_guard_v1 {
  uint32_t struct_size;
  uint32_t reserved;
  /* TITAN_DUTY_* bits of this instance; asked once, after init. */
  uint32_t (*duties)(void* ctx);
  /* After the strategies have placed the tree: may attach interceptors, now and before any step. */
  titan_error* (*attach)(void* ctx, titan_control* control, titan_tree* tree, titan_mesh* mesh);
  titan_error* (*step_begin)(void* ctx, int64_t step);
  /* Must call pass->run. Guards stand inside each other in order of their plugins. */
  titan_error* (*around)(void* ctx, const titan_pass* pass);
  /* After the gradients of all ranks are reduced and before the update. */
  titan_error* (*judge)(void* ctx, const titan_outcome* outcome, titan_judgement* out);
  /* See titan_control_v1.breakpoint. */
  titan_error* (*breakpoint)(void* ctx, titan_string label, const titan_string* names, const titan_tensor* tensors,
                             uint32_t num_tensors);
} titan_guard_v1;

#ifdef __cplusplus
}
#endif
