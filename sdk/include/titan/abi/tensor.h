/* titan.tensor/1: tensors and operators for plugins that do not link libtorch.
 *
 * A titan_tensor is a counted handle. Arguments are borrowed for the call; handles that a function returns or writes to
 * an out array are new references, owned by the receiver. Operators are libtorch's, found by name ("aten::add",
 * "Tensor"), and record gradients as any libtorch call does. Functions are [any thread] unless they say otherwise; one
 * tensor must not be changed by two threads at once.
 */
#pragma once
#include "titan/abi/base.h"

#define TITAN_TENSOR_V1 "titan.tensor/1"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct titan_tensor_object* titan_tensor;
typedef struct titan_op_object* titan_op; /* lives as long as the process */

/* Element types: our own numbers, independent of libtorch's. */
enum {
  TITAN_FLOAT64 = 1,
  TITAN_FLOAT32 = 2,
  TITAN_BFLOAT16 = 3,
  TITAN_FLOAT16 = 4,
  TITAN_INT64 = 5,
  TITAN_INT32 = 6,
  TITAN_UINT8 = 7,
  TITAN_BOOL8 = 8
};

enum { TITAN_DEVICE_CPU = 1, TITAN_DEVICE_CUDA = 2, TITAN_DEVICE_META = 3 };

/* Tag of titan_value.kind. */
enum {
  TITAN_VALUE_NONE = 0,
  TITAN_VALUE_TENSOR = 1,
  TITAN_VALUE_INT = 2,
  TITAN_VALUE_FLOAT = 3,
  TITAN_VALUE_BOOL = 4,
  TITAN_VALUE_INTS = 5,    /* `ints`, `size` of them */
  TITAN_VALUE_TENSORS = 6, /* `tensors`, `size` of them */
  TITAN_VALUE_STRING = 7,  /* `text`, `size` bytes */
  TITAN_VALUE_DTYPE = 8    /* `integer` is a TITAN_FLOAT64... constant */
};

/* One operator argument. Frozen: never grows. */
typedef struct titan_value {
  int32_t kind;
  uint32_t size;
  union {
    titan_tensor tensor;
    int64_t integer; /* INT, BOOL, DTYPE */
    double floating;
    const int64_t* ints;
    const titan_tensor* tensors;
    const char* text;
  } as;
} titan_value;

typedef struct titan_tensor_v1 {
  uint32_t struct_size;

  void (*retain)(titan_tensor tensor);
  void (*release)(titan_tensor tensor); /* NULL is allowed by both */

  /* A NULL handle is allowed here too; its answers are 0, -1 for sizes, and NULL for data. */
  int32_t (*dtype)(titan_tensor tensor);  /* 0: none of the constants */
  int32_t (*device)(titan_tensor tensor); /* 0: none of the constants */
  int64_t (*dim)(titan_tensor tensor);
  int64_t (*size)(titan_tensor tensor, int64_t dim);   /* negative dims count from the end; -1: no such dim */
  int64_t (*stride)(titan_tensor tensor, int64_t dim); /* in elements; -1: no such dim */
  int64_t (*numel)(titan_tensor tensor);
  int32_t (*requires_grad)(titan_tensor tensor);
  /* First element, or NULL for meta tensors. Strides apply. Valid while the handle is held. */
  void* (*data)(titan_tensor tensor);

  /* Uninitialised tensor of shape sizes[num_sizes]. */
  titan_error* (*empty)(const int64_t* sizes, uint64_t num_sizes, int32_t dtype, int32_t device, titan_tensor* out);
  /* Wraps contiguous CPU memory; `deleter(ctx)` runs when the last reference is gone (NULL: memory outlives it). After
   * an error the memory is still the caller's. */
  titan_error* (*from_blob)(void* data, const int64_t* sizes, uint64_t num_sizes, int32_t dtype,
                            void (*deleter)(void* ctx), void* ctx, titan_tensor* out);

  /* Finds an operator. Refused: unknown names, and operators whose schema mutates an argument (recomputation of a
   * forward pass could not repeat them). Look up once, in init or build. */
  titan_error* (*op_find)(titan_string name, titan_string overload, titan_op* out);
  /* libtorch's schema text; lives as long as the process. */
  titan_string (*op_schema)(titan_op op);
  /* Calls with num_args leading arguments; the schema's defaults fill the rest. Writes num_out tensors. */
  titan_error* (*op_call)(titan_op op, const titan_value* args, uint32_t num_args, titan_tensor* out, uint32_t num_out);

  /* Switches gradient recording of the calling thread; returns what it was. */
  int32_t (*grad_mode)(int32_t enabled);
} titan_tensor_v1;

#ifdef __cplusplus
}
#endif
