/* titan.schedule/1: implemented by a plugin with a pipeline strategy.
 *
 * A pipeline is data: where the chain is cut into stages, and for each rank of the pipeline the list of what it does.
 * The host has one executor; its linter, timeline and rehearsal read the same table. Functions need neither a device
 * nor other ranks: they are called before anything is started. The instance reads its options through
 * host->config_get.
 */
#pragma once
#include "titan/abi/tree.h"

#define TITAN_SCHEDULE_V1 "titan.schedule/1"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  TITAN_ACTION_FORWARD = 1,          /* of a micro-batch through a stage of this rank */
  TITAN_ACTION_BACKWARD = 2,         /* input and weight gradients */
  TITAN_ACTION_SEND_FORWARD = 3,     /* the stage's output to the rank of stage + 1 */
  TITAN_ACTION_RECEIVE_FORWARD = 4,  /* the stage's input from the rank of stage - 1 */
  TITAN_ACTION_SEND_BACKWARD = 5,    /* the gradient of the stage's input to the rank of stage - 1 */
  TITAN_ACTION_RECEIVE_BACKWARD = 6, /* the gradient of the stage's output from the rank of stage + 1 */
  TITAN_ACTION_IDLE = 7              /* waits one slot: in timelines only */
};

/* One thing a rank does. Frozen: never grows. */
typedef struct titan_action {
  int32_t kind;         /* TITAN_ACTION_* */
  uint32_t stage;       /* of this rank, by its index in the model */
  uint32_t micro_batch; /* from 0 */
  uint32_t reserved;
} titan_action;

typedef struct titan_schedule_request {
  uint32_t struct_size;
  uint32_t num_ranks;         /* of the pipeline: the degree pp */
  const titan_string* blocks; /* names of the chain's blocks, in order */
  uint32_t num_blocks;
  uint32_t num_micro_batches; /* that go through the pipeline together */
  int32_t training;           /* 0: forward only (validation) */
} titan_schedule_request;

typedef struct titan_schedule_v1 {
  uint32_t struct_size;

  /* The schedule's name as the user knows it: "1F1B". Lives as long as the instance. */
  titan_string (*name)(void* ctx);
  /* The stages of pipeline rank `rank`, by increasing index. Errors of code CONFIG name the option and the numbers. An
   * error of `emit` is returned at once. */
  titan_error* (*stages)(void* ctx, const titan_schedule_request* request, uint32_t rank, void* sink,
                         titan_error* (*emit)(void* sink, const titan_stage* stage));
  /* What pipeline rank `rank` does in one pass of num_micro_batches, in order. */
  titan_error* (*actions)(void* ctx, const titan_schedule_request* request, uint32_t rank, void* sink,
                          titan_error* (*emit)(void* sink, const titan_action* action));
} titan_schedule_v1;

#ifdef __cplusplus
}
#endif
