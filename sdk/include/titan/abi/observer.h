/* titan.observer/1: implemented by tools that watch a run.
 *
 * Observers are passive: an error disables the observer with one warning and never stops training. Events are delivered
 * on the rank's training thread, in order, and but for collectives and spans outside of any forward or backward; dumps
 * come on any thread. Event structs and what they point to are valid during the call only. With several ranks each rank
 * has its own instance.
 */
#pragma once
#include "titan/abi/base.h"
#include "titan/abi/place.h"

#define TITAN_OBSERVER_V1 "titan.observer/1"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of the event mask. */
enum {
  TITAN_EVENT_RUN_BEGIN = 1,  /* before the first step */
  TITAN_EVENT_STEP_END = 2,   /* after the optimizer of each step */
  TITAN_EVENT_VALIDATION = 4, /* after a validation pass */
  TITAN_EVENT_RUN_END = 8,    /* once, whatever ended the run */
  TITAN_EVENT_COLLECTIVE =
      16, /* after the wait for a collective, inside of forward and backward too; from joining on */
  /* Since 0.4. */
  TITAN_EVENT_SPAN = 32, /* begin and end of each phase of the run, from building on */
  TITAN_EVENT_DUMP = 64  /* write down what is known: a wait was too long, the rank fails, or somebody asks */
};

typedef struct titan_run_event {
  uint32_t struct_size;
  int32_t device;             /* TITAN_DEVICE_* */
  titan_string dump_folder;   /* exists */
  int64_t first_step;         /* the step that comes next: 1 in a fresh run */
  int64_t last_step;          /* training.steps */
  int64_t num_parameters;     /* of the whole model */
  double num_flops_per_token; /* forward and backward */
  double peak_flops;          /* of one device in the compute dtype, per second; 0: unknown */
  int64_t memory_capacity;    /* bytes of the device, or of the machine on the CPU; 0: unknown */
  titan_string device_name;
} titan_run_event;

typedef struct titan_step_event {
  uint32_t struct_size;
  int32_t is_last;
  int64_t step;         /* 1-based */
  double loss;          /* sum of cross-entropies / valid tokens, over the global batch, before the update */
  double grad_norm;     /* global, before clipping */
  double lr;            /* of the first parameter group, the one this step used */
  int64_t num_tokens;   /* tokens of this step on this rank, padding included */
  int64_t total_tokens; /* tokens of the whole run so far, over all ranks */
  double step_seconds;  /* wall time from the previous step's end to this one's, without validation, saves and holds */
  double data_seconds;  /* of that, waiting for data */
  double forward_seconds;
  double backward_seconds;
  double optimizer_seconds; /* clipping included */
  double elapsed_seconds;   /* since the run began */
  int64_t peak_memory;      /* peak bytes of tensors of this rank since the previous step or validation event */
} titan_step_event;

typedef struct titan_validation_event {
  uint32_t struct_size;
  int32_t reserved;
  int64_t step; /* training step it belongs to */
  double loss;
  int64_t num_tokens; /* valid tokens, over all ranks */
  double seconds;
  int64_t peak_memory;
} titan_validation_event;

typedef struct titan_run_end_event {
  uint32_t struct_size;
  int32_t code;         /* 0, a TITAN_ERROR_* value, or 128 + signal */
  int64_t step;         /* last finished step */
  titan_string message; /* absent when code is 0 */
} titan_run_end_event;

/* States of a collective. */
enum {
  TITAN_COLLECTIVE_SCHEDULED = 1, /* called, not begun */
  TITAN_COLLECTIVE_STARTED = 2,
  TITAN_COLLECTIVE_COMPLETED = 3,
  TITAN_COLLECTIVE_FAILED = 4 /* error or deadline */
};

/* One call of titan.collective/1, or of the host's own. */
typedef struct titan_collective_event {
  uint32_t struct_size;
  int32_t state;       /* TITAN_COLLECTIVE_COMPLETED or _FAILED */
  titan_string op;     /* PyTorch's name: "all_reduce", "_allgather_base", "_reduce_scatter_base", "alltoall_base",
                          "broadcast", "send", "recv", "barrier" */
  titan_string group;  /* "fsdp" */
  titan_string module; /* fully qualified name of the module it was made for; empty: none (a step's own agreements) */
  uint32_t group_size;
  int32_t dtype;       /* TITAN_FLOAT32...; 0: no tensor */
  uint64_t sequence;   /* number of the call in its group, from 1; sends and receives are counted for each pair */
  int64_t input_bytes; /* of this rank */
  int64_t output_bytes;
  double started;   /* seconds of a monotonic clock */
  double completed; /* the same; when the work was done, which may be long before the wait */
} titan_collective_event;

/* Begin or end of a phase. Spans nest: a step's hold the others. An end comes whatever ended the phase. */
typedef struct titan_span_event {
  uint32_t struct_size;
  int32_t phase; /* TITAN_IN_* */
  int32_t is_end;
  int32_t micro_batch; /* in the step, from 0; -1: none */
  int64_t step;        /* 0 before the first */
  uint32_t stage;      /* of a pipeline, by its index in the model */
  uint32_t reserved;
  double time;         /* seconds of a monotonic clock */
  titan_string detail; /* what was loaded or saved; absent: nothing to say */
} titan_span_event;

/* One call of a collective, as the rank's recorder has it. Times are nanoseconds of the monotonic clock; 0: not yet. */
typedef struct titan_work_record {
  uint32_t struct_size;
  int32_t state;        /* TITAN_COLLECTIVE_* */
  uint64_t id;          /* of the rank, from 1 */
  titan_string op;      /* as in titan_collective_event */
  titan_string group;   /* the name it was called under: "fsdp" */
  titan_string channel; /* tells groups of the run apart; the same on all members */
  titan_string module;
  uint64_t sequence;
  int32_t is_p2p;
  int32_t is_retired;     /* waited for */
  int64_t peer;           /* global rank, of sends and receives; else -1 */
  const int64_t* members; /* global ranks of the group */
  uint64_t num_members;
  const int64_t* input_sizes; /* shapes */
  uint64_t num_input_sizes;
  const int64_t* output_sizes;
  uint64_t num_output_sizes;
  int32_t dtype;
  int32_t reserved;
  int64_t created, started, completed;
  int64_t created_epoch; /* nanoseconds since 1970 */
  int64_t timeout_ms;
} titan_work_record;

/* Why something is to be written down. */
enum {
  TITAN_DUMP_TIMEOUT = 1, /* a wait of this or another rank passed its deadline */
  TITAN_DUMP_ERROR = 2,   /* this or another rank fails */
  TITAN_DUMP_REQUEST = 3, /* SIGUSR2 */
  TITAN_DUMP_EXIT = 4,    /* the run ends */
  TITAN_DUMP_STOP = 5     /* since 0.4: somebody ends the run, on this or another rank: at a prompt, or by a signal */
};

/* Delivered on any thread, one at a time, while the training thread may be anywhere, and before anything is given up:
 * what it takes delays that. */
typedef struct titan_dump_event {
  uint32_t struct_size;
  int32_t cause; /* TITAN_DUMP_* */
  titan_string reason;
  titan_string place;                      /* where the training thread is, in words: "step 3, backward, in layers.2" */
  const titan_work_record* const* records; /* oldest first */
  uint64_t num_records;
  uint64_t num_forgotten; /* older ones that no longer are in the ring */
} titan_dump_event;

/* Every callback may be NULL; callbacks without their bit in `events` are not called. */
typedef struct titan_observer_v1 {
  uint32_t struct_size;
  uint32_t events; /* TITAN_EVENT_* bits wanted */
  titan_error* (*run_begin)(void* ctx, const titan_run_event* event);
  titan_error* (*step_end)(void* ctx, const titan_step_event* event);
  titan_error* (*validation)(void* ctx, const titan_validation_event* event);
  titan_error* (*run_end)(void* ctx, const titan_run_end_event* event);
  titan_error* (*collective)(void* ctx, const titan_collective_event* event);

  /* Since 0.4. */
  titan_error* (*span)(void* ctx, const titan_span_event* event);
  titan_error* (*dump)(void* ctx, const titan_dump_event* event);
  /* Of the bits in `events` those that this instance wants; asked once, after init. NULL: all. */
  uint32_t (*wanted)(void* ctx);
} titan_observer_v1;

#ifdef __cplusplus
}
#endif
