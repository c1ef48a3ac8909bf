/* titan.control/1: what a tool may do to a run. Implemented by the host.
 *
 * A titan_control is one rank's run, handed to guards (titan/abi/guard.h). Functions are called on the rank's training
 * thread unless they say otherwise.
 */
#pragma once
#include "titan/abi/place.h"
#include "titan/abi/tensor.h"

#define TITAN_CONTROL_V1 "titan.control/1"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct titan_control titan_control;

/* Kinds of what a rank keeps. */
enum {
  TITAN_STATE_PARAMETER = 1, /* storage */
  TITAN_STATE_COMPUTE = 2,   /* a parameter's compute form, where it is a tensor of its own */
  TITAN_STATE_GRADIENT = 3,
  TITAN_STATE_OPTIMIZER = 4,
  TITAN_STATE_BUFFER = 5
};

typedef struct titan_control_v1 {
  uint32_t struct_size;

  /* Suspends every deadline of every rank until release(): the others wait for this one as long as it takes. Nests. */
  titan_error* (*hold)(titan_control* control);
  titan_error* (*release)(titan_control* control);
  /* Asks for the end of the run at the next place where all ranks agree, as SIGINT does; with checkpoints on it is
   * saved first. [any thread] */
  void (*stop)(titan_control* control);
  /* Where this rank is. [any thread] */
  void (*place)(const titan_control* control, titan_place* out);
  /* Makes the rank's observers dump. [any thread] */
  void (*dump)(titan_control* control, int32_t cause, titan_string reason);
  /* Visits the tensors that this rank keeps from step to step, with full names: "layers.0.attention.wq.weight", and for
   * the optimizer "layers.0.attention.wq.weight.exp_avg". The handle is borrowed. */
  titan_error* (*visit_state)(titan_control* control, void* ctx,
                              void (*visit)(void* ctx, int32_t kind, titan_string name, titan_tensor tensor));
  /* 1 where this rank's console is shown to somebody: no launcher, or one that shows it (LOG_RANK). [any thread] */
  int32_t (*is_shown)(const titan_control* control);

  /* From a plugin's callback that runs on the training thread of some rank: breaks into the run there, if its rank is
   * `rank`. `label` says where in words; tensors may be looked at by their names. Without a tool that has a prompt
   * nothing happens. Error: TITAN_ERROR_QUIT, to be passed on. */
  titan_error* (*breakpoint)(uint32_t rank, titan_string label, const titan_string* names, const titan_tensor* tensors,
                             uint32_t num_tensors);
} titan_control_v1;

#ifdef __cplusplus
}
#endif
