/* Where a rank is in its run. */
#pragma once
#include "titan/abi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Phases of a run. */
enum {
  TITAN_IN_START = 0, /* before the model is built: options, data */
  TITAN_IN_JOIN = 1,  /* meeting the other ranks */
  TITAN_IN_BUILD = 2, /* the model's tree, and where it is placed */
  TITAN_IN_INIT = 3,  /* initial values */
  TITAN_IN_LOAD = 4,  /* a checkpoint */
  TITAN_IN_STEP = 5,  /* of training, beside what follows */
  TITAN_IN_DATA = 6,  /* fetching the step's micro-batches */
  TITAN_IN_FORWARD = 7,
  TITAN_IN_BACKWARD = 8,  /* what is recomputed in it too */
  TITAN_IN_OPTIMIZER = 9, /* norm, clipping, update */
  TITAN_IN_VALIDATION = 10,
  TITAN_IN_SAVE = 11,   /* a checkpoint */
  TITAN_IN_HOLD = 12,   /* all ranks are held: somebody looks */
  TITAN_IN_REPLAY = 13, /* forward and backward once more, for a guard */
  TITAN_IN_END = 14
};

typedef struct titan_place {
  uint32_t struct_size;
  int32_t phase;       /* TITAN_IN_* */
  int64_t step;        /* 0 before the first */
  int32_t micro_batch; /* in the step; -1: none */
  uint32_t stage;      /* of a pipeline */
  uint32_t module;     /* of the rank's tree, the innermost that runs forward or is recomputed; 0: none */
  uint32_t reserved;
  titan_string module_name; /* lives as long as the run */
} titan_place;

#ifdef __cplusplus
}
#endif
