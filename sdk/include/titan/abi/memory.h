/* titan.memory/1: the host's allocator, for tools that watch it.
 *
 * All tensors of the process on the CPU come from one allocator, whichever rank or thread asks.
 */
#pragma once
#include "titan/abi/place.h"

#define TITAN_MEMORY_V1 "titan.memory/1"

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of a listener's mask. */
enum {
  TITAN_MEMORY_ALLOC = 1,        /* the block was made */
  TITAN_MEMORY_FREE = 2,         /* the block is still there */
  TITAN_MEMORY_OUT_OF_MEMORY = 4 /* an allocation is about to fail; nothing has been unwound yet */
};

/* Frozen: never grows. */
typedef struct titan_memory_event {
  int32_t action; /* TITAN_MEMORY_* */
  int32_t reserved;
  uint64_t address; /* of the data; 0: out of memory */
  uint64_t bytes;   /* asked for */
  uint64_t live;    /* bytes of tensors after the event */
} titan_memory_event;

/* [any thread, several at once] Must not throw, wait for long, or make or free tensors; when memory is out it may wait.
 */
typedef struct titan_memory_listener {
  uint32_t struct_size;
  uint32_t actions; /* TITAN_MEMORY_* bits: what it is told */
  void* ctx;
  void (*event)(void* ctx, const titan_memory_event* event);
} titan_memory_listener;

typedef struct titan_memory_counters {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t live;   /* bytes of tensors */
  uint64_t peak;   /* the most of them since the process began */
  uint64_t cached; /* freed blocks that are kept for reuse */
  uint64_t limit;  /* debug.memory_limit_gib; 0: none */
} titan_memory_counters;

/* Functions are [any thread]. */
typedef struct titan_memory_v1 {
  uint32_t struct_size;
  /* Tells `listener` (kept until unlisten) of events from now on. Several may listen. */
  titan_error* (*listen)(const titan_memory_listener* listener);
  /* Returns when no event is being told to it any more. */
  void (*unlisten)(const titan_memory_listener* listener);
  /* Fills the fields of *out that its struct_size covers. */
  void (*counters)(titan_memory_counters* out);
  /* Where the calling thread's rank is; phase -1 on a thread that is no rank's. */
  void (*here)(titan_place* out);
} titan_memory_v1;

#ifdef __cplusplus
}
#endif
