/* titan.collective/1: groups of ranks and what they say to each other.
 *
 * Implemented by the host. A titan_mesh is one rank's view of the layout; its groups live as long as it does. Functions
 * are called on the rank's training thread (where backward runs too), by every rank of a group in the same order.
 *
 * A call starts a collective and hands out a work handle; `wait` ends it and frees the handle. Tensors are kept alive
 * until then; outputs must not be read or written meanwhile, inputs not written. Tensors of all ranks have the same
 * shape and dtype. Every call makes a work record with its state and times. Every wait has a deadline; the error
 * (TITAN_ERROR_UNAVAILABLE) names operation, sequence number, group, elapsed time and the ranks that did not arrive,
 * and poisons all groups of the process, so that the other ranks leave at once.
 */
#pragma once
#include "titan/abi/tensor.h"

#define TITAN_COLLECTIVE_V1 "titan.collective/1"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct titan_mesh titan_mesh;
typedef struct titan_group titan_group;
typedef struct titan_work titan_work;

enum { TITAN_REDUCE_SUM = 1, TITAN_REDUCE_MAX = 2, TITAN_REDUCE_MIN = 3 };

typedef struct titan_collective_v1 {
  uint32_t struct_size;

  /* The calling rank's group along one axis ("dp_replicate", "dp_shard", "cp", "tp", "pp"), along folded axes ("dp":
   * dp_replicate x dp_shard, "fsdp": dp_shard x cp, "loss": dp_replicate x dp_shard x cp, "stage": all but pp, "world":
   * all), or of experts ("ep": neighbours among dp_shard x cp x tp, "efsdp": those with the same experts). An axis of
   * one rank gives a group of size 1, whose collectives copy. Error: no such axis. */
  titan_error* (*group)(titan_mesh* mesh, titan_string axis, titan_group** out);
  uint32_t (*rank)(const titan_group* group); /* inside the group */
  uint32_t (*size)(const titan_group* group);
  titan_string (*name)(const titan_group* group);

  /* In place, element-wise. */
  titan_error* (*all_reduce)(titan_group* group, titan_tensor tensor, int32_t op, titan_work** out);
  /* out [size * n, ...] from in [n, ...], both contiguous; rank order along dim 0. `in` may be the place in `out` where
   * this rank's rows come to lie. */
  titan_error* (*all_gather)(titan_group* group, titan_tensor out, titan_tensor in, titan_work** work);
  /* out [n, ...] from in [size * n, ...], both contiguous. */
  titan_error* (*reduce_scatter)(titan_group* group, titan_tensor out, titan_tensor in, int32_t op, titan_work** work);
  /* Rows of dim 0: in_rows[i] go to rank i, out_rows[i] come from it. */
  titan_error* (*all_to_all)(titan_group* group, titan_tensor out, titan_tensor in, const int64_t* out_rows,
                             const int64_t* in_rows, titan_work** work);
  titan_error* (*broadcast)(titan_group* group, titan_tensor tensor, uint32_t root, titan_work** work);
  titan_error* (*send)(titan_group* group, titan_tensor tensor, uint32_t peer, uint32_t tag, titan_work** work);
  titan_error* (*receive)(titan_group* group, titan_tensor tensor, uint32_t peer, uint32_t tag, titan_work** work);
  titan_error* (*barrier)(titan_group* group);
  /* Waits, within the deadline, and frees the handle whatever happens. NULL is allowed. */
  titan_error* (*wait)(titan_work* work);
  /* Names the module that the calls from now on are made for, in their work records: "layers.3". The text is copied. An
   * absent text: the module that runs. */
  void (*set_module)(titan_mesh* mesh, titan_string module);

  /* Differentiable forms; they return when done. The backward of each is the matching collective of the gradients:
   * gather along dim <-> reduce-scatter along dim, sum <-> sum, all-to-all <-> all-to-all back. */
  titan_error* (*differentiable_all_reduce)(titan_group* group, titan_tensor in, titan_tensor* out);
  titan_error* (*differentiable_all_gather)(titan_group* group, titan_tensor in, int64_t dim, titan_tensor* out);
  titan_error* (*differentiable_reduce_scatter)(titan_group* group, titan_tensor in, int64_t dim, titan_tensor* out);
  titan_error* (*differentiable_all_to_all)(titan_group* group, titan_tensor in, const int64_t* out_rows,
                                            const int64_t* in_rows, titan_tensor* out);
} titan_collective_v1;

#ifdef __cplusplus
}
#endif
