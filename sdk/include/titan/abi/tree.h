/* titan.tree/1: the module tree.
 *
 * The host owns the tree; plugins own behaviour. A model plugin adds modules, declares parameters as data (no tensor
 * exists yet) and gives forward callbacks. Later, other plugins attach interceptors. Names form torchtitan's fully
 * qualified names, "layers.0.attention.wq". A module is an index; 0 is the root, which always exists.
 *
 * Building calls are made on build()'s thread, while build() runs. `call` and `next` are made on the thread that runs
 * the callback they are used in, with that callback's frame.
 */
#pragma once
#include "titan/abi/tensor.h"

#define TITAN_TREE_V1 "titan.tree/1"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct titan_tree titan_tree;
typedef struct titan_frame titan_frame; /* one running call of one module; valid inside its callback only */
typedef uint32_t titan_module;

#define TITAN_MODULE_ROOT 0u

/* How tensor parallelism may split a parameter (dim 0 is the output dim of a linear weight [out, in]). */
enum {
  TITAN_SPLIT_REPLICATE = 0,
  TITAN_SPLIT_COLUMN = 1,   /* by output features: dim 0 */
  TITAN_SPLIT_ROW = 2,      /* by input features: dim 1 */
  TITAN_SPLIT_VOCAB = 3,    /* by vocabulary: dim 0, uneven parts allowed */
  TITAN_SPLIT_SEQUENCE = 4, /* replicated, but its gradient is partial when the sequence is split (norms) */
  TITAN_SPLIT_HEADS = 5,    /* replicated, but its gradient is partial along "tp" (norms of q and k, routers) */
  /* Of a stack of experts [experts, out, in]: dim 0 by experts along "ep", and by features along "tp". */
  TITAN_SPLIT_EXPERT_COLUMN = 6, /* dim 1 along "tp" */
  TITAN_SPLIT_EXPERT_ROW = 7     /* dim 2 along "tp" */
};

enum {
  TITAN_INIT_CONSTANT = 1,    /* value */
  TITAN_INIT_NORMAL = 2,      /* mean, std */
  TITAN_INIT_TRUNC_NORMAL = 3 /* mean, std, cut to [low, high] in absolute values, as torch.nn.init.trunc_normal_ */
};

typedef struct titan_parameter {
  uint32_t struct_size;
  uint32_t num_dims;
  titan_string name;    /* inside the module: "weight" */
  const int64_t* shape; /* the whole parameter, whatever the layout */
  int32_t split;        /* TITAN_SPLIT_* */
  int32_t init;         /* TITAN_INIT_* */
  double value;         /* CONSTANT */
  double mean, std, low, high;
} titan_parameter;

enum { TITAN_ATTRIBUTE_INT = 1, TITAN_ATTRIBUTE_FLOAT = 2, TITAN_ATTRIBUTE_STRING = 3 };

/* One attribute of a leaf module. Frozen: never grows. */
typedef struct titan_attribute {
  titan_string key;
  int32_t kind;
  int32_t reserved;
  int64_t integer;
  double floating;
  titan_string string;
} titan_attribute;

/* Leaf kinds: inputs -> outputs; parameters; attributes. B batch, L sequence, D features, N heads, K kv heads, H head
 * dim, V vocabulary. Floating tensors have the compute dtype unless said otherwise. Attributes without a default must
 * be given, others than these are refused; a whole number may be given as an int where a float is asked for.
 *
 *   titan.linear         x[..., in] -> [..., out]; weight [out, in]
 *   titan.embedding      ids[B, L] int64 -> [B, L, D]; weight [V, D]
 *   titan.rms_norm       x[..., D] -> [..., D]; or since 0.5 x[..., D], residual[..., D] -> norm of their sum, sum:
 *                        one pass over memory instead of two; weight [D]; eps (float)
 *   titan.rope           q[B,L,N,H], k[B,L,K,H], positions[B,L] int64 -> q, k; adjacent pairs of features are rotated;
 *                        theta (float), max_positions (int: positions stay below it), and for Llama 3.1 scaling
 *                        scaling_factor, low_freq_factor, high_freq_factor (float), original_max_positions (int)
 *   titan.attention      q[B,L,N,H], k[B,L,K,H], v[B,L,K,H] (, positions[B,L] int64) -> [B,L,N,H];
 *                        mask (string): none; causal, where query i sees keys 0 to i; block_causal, where documents,
 *                        told apart by positions that restart, do not see each other: only this one reads positions;
 *                        scale (float, default 1/sqrt(H))
 *   titan.swiglu         gate[..., F], up[..., F] -> silu(gate) * up
 *   titan.router         x[..., D] -> scores[T, k] float32 (float64 for float64 x), experts[T, k] int64, counts[E]
 *                        int64: for T tokens the k experts of each, best first, with their weights; and the tokens of
 *                        each expert; weight [E, D], with gate_bias 1 also bias [E]; num_experts, top_k (int);
 *                        score_func (string): softmax, sigmoid;
 *                        route_norm (int 0 or 1, default 0): the weights of a token are divided by their sum;
 *                        route_scale (float, default 1): factor on the weights;
 *                        num_expert_groups, num_limited_groups (int, default 0: no groups): experts are chosen from
 *                        the best groups of neighbours; gate_bias (int 0 or 1, default 0);
 *                        force_load_balance (int 0 or 1, default 0): tokens take experts in turn;
 *                        load_balance_coeff (float, default 0: none): with it a router has the buffers expert_bias
 *                        float32, added to scores in the choice alone, and tokens_per_expert int64, which belong to
 *                        the module above it; the host moves the bias once a step, by the counts of all ranks in
 *                        phase TRAINING
 *   titan.grouped_experts  x[M, D] sorted by expert, counts[E] int64 -> [M, D]: rows of expert e are
 *                        w2_e(silu(w1_e x) * w3_e x); an expert may have no rows; w1 [E, F, D], w2 [E, D, F],
 *                        w3 [E, F, D]
 *   titan.cross_entropy  logits[B, L, V], labels[B, L] int64, -100 ignored -> [] sum of losses, float32 or float64
 */

/* Runs one module. `in` is borrowed; `out` handles are owned by the caller afterwards; num_out is what the caller
 * expects. `self` is what was given to add_custom. */
typedef titan_error* (*titan_forward_fn)(void* self, titan_frame* frame, const titan_tensor* in, uint32_t num_in,
                                         titan_tensor* out, uint32_t num_out);

/* What remains of a call after an interceptor. A plain value: may be copied, and called later, also from backward:
 * then without a frame. Frozen: never grows. */
typedef struct titan_next {
  titan_tree* tree;
  titan_module module;
  uint32_t index;
} titan_next;

/* Runs around a module: calls `next` as often as it likes, or not at all (a replacement). */
typedef titan_error* (*titan_around_fn)(void* self, titan_frame* frame, titan_next next, const titan_tensor* in,
                                        uint32_t num_in, titan_tensor* out, uint32_t num_out);

/* Since 0.5. What an interceptor declares of itself: a set of bits. */
enum {
  /* It passes on what `next` gives, whatever that is: it looks at neither the values, the shape nor the dtype of the
   * module's outputs, and calls `next` within its own call only. Hooks on their gradients are its own affair. The host
   * may then run what follows the module together with it: around the last block of the chain, the output may be the
   * loss, [], instead of the logits, which are never made. */
  TITAN_AROUND_ANY_OUTPUTS = 1,
  /* The host may leave it out where it runs the module as a part of another: the loss in the block before it. */
  TITAN_AROUND_SKIPPABLE = 2
};

/* Why a module runs. */
enum {
  TITAN_PHASE_TRAINING = 1,      /* forward of a training step */
  TITAN_PHASE_RECOMPUTATION = 2, /* once more, in backward: what it counts was counted already */
  TITAN_PHASE_EVALUATION = 3     /* forward without a backward */
};

/* A part of the chain that a rank runs without others between: chain blocks first .. first + count - 1. `index` is its
 * place among the stages of the whole model. Frozen: never grows. */
typedef struct titan_stage {
  uint32_t index, first, count, reserved;
} titan_stage;

/* What a chain block takes besides the activations x. */
enum { TITAN_CHAIN_POSITIONS = 1 /* positions[B, L] int64 as second input */ };

/* What a parameter's gradient is along a mesh axis after backward. The entries of all axes are the ledger: a step with
 * a partial gradient left, or one that is placed unlike its parameter, does not reach the optimizer. */
enum {
  TITAN_GRADIENT_EQUAL = 1,   /* every rank of the axis has the whole sum */
  TITAN_GRADIENT_PARTIAL = 2, /* every rank has its own summand: still to be summed */
  TITAN_GRADIENT_SHARDED = 3  /* every rank has the whole sum of the part it stores */
};

/* The tensors of a parameter. */
enum {
  TITAN_BOX_STORAGE = 1, /* this rank's part, storage dtype: what optimizer and checkpoints see */
  TITAN_BOX_COMPUTE = 2, /* what forward sees, compute dtype, requires a gradient */
  TITAN_BOX_GRADIENT = 3 /* of this rank's part, reduce dtype; summed over a step's micro-batches */
};

/* What of a parameter a strategy looks after instead of the host: a set of bits. */
enum {
  TITAN_OWN_COMPUTE = 1, /* the host never makes or refreshes the compute form */
  TITAN_OWN_GRADIENT = 2 /* the host never collects or clears gradients; at a step's begin they must be absent */
};

typedef struct titan_tree_v1 {
  uint32_t struct_size;

  /* Building. Names consist of letters, digits, '_' and '-', in segments joined by '.' ("layers.0" below the root needs
   * no module "layers"). Duplicate names, unknown kinds and attributes, and bad shapes are errors that name the module.
   * `destroy` (may be NULL) frees `self` with the tree; after an error `self` is still the caller's. */
  titan_error* (*add_leaf)(titan_tree* tree, titan_module parent, titan_string name, titan_string kind,
                           const titan_attribute* attributes, uint32_t num_attributes, titan_module* out);
  titan_error* (*add_custom)(titan_tree* tree, titan_module parent, titan_string name, titan_forward_fn forward,
                             void* self, void (*destroy)(void* self), titan_module* out);
  titan_error* (*add_parameter)(titan_tree* tree, titan_module module, const titan_parameter* parameter);
  /* Appends a block to the chain: the units that are sharded, recomputed and cut into pipeline stages. The first block
   * takes token ids, each later one the previous one's output. `inputs` is a set of TITAN_CHAIN_* bits. */
  titan_error* (*add_to_chain)(titan_tree* tree, titan_module module, uint32_t inputs);
  /* The module that turns the chain's output and the labels into the summed loss. */
  titan_error* (*set_loss)(titan_tree* tree, titan_module module);

  /* Inside a forward callback: calls a module below the running one. */
  titan_error* (*call)(titan_frame* frame, titan_module module, const titan_tensor* in, uint32_t num_in,
                       titan_tensor* out, uint32_t num_out);

  /* Walking. Texts live as long as the tree. Modules that do not exist have absent texts, no parameters, and the root
   * as parent. */
  uint32_t (*num_modules)(const titan_tree* tree);
  titan_string (*module_name)(const titan_tree* tree, titan_module module); /* fully qualified; root: empty */
  titan_string (*module_kind)(const titan_tree* tree, titan_module module); /* a leaf kind, or "custom" */
  titan_module (*module_parent)(const titan_tree* tree, titan_module module);
  uint32_t (*num_parameters)(const titan_tree* tree, titan_module module); /* of the module itself */
  /* Fills the fields of *out that its struct_size covers. */
  titan_error* (*parameter)(const titan_tree* tree, titan_module module, uint32_t index, titan_parameter* out);
  uint32_t (*chain_size)(const titan_tree* tree);
  titan_module (*chain_block)(const titan_tree* tree, uint32_t index);

  /* Attaches an interceptor, after build and before the first step. Smaller priorities run further out; equal ones in
   * order of attachment. `destroy` and `self` as in add_custom. */
  titan_error* (*attach)(titan_tree* tree, titan_module module, int32_t priority, titan_around_fn around, void* self,
                         void (*destroy)(void* self));
  /* Runs the rest of a call: in its interceptor with that frame; later with NULL, in a frame without a caller. */
  titan_error* (*next)(titan_frame* frame, titan_next next, const titan_tensor* in, uint32_t num_in, titan_tensor* out,
                       uint32_t num_out);
  /* The running module of a frame. */
  titan_module (*frame_module)(const titan_frame* frame);

  /* Strategies: placements. In apply(), before the parameters have tensors. This rank's part of a parameter is a box,
   * at first all of it. `shard` narrows the box along `dim` to `length` indices from `offset`, counted inside the box
   * so far (0 indices are legal), and records that the parameter is sharded on dim `dim` along a mesh axis or folded
   * axes: one shard an axis, but for "efsdp", which cuts further what "ep" has cut on the same dim. */
  titan_error* (*shard)(titan_tree* tree, titan_module module, uint32_t index, titan_string axis, int64_t dim,
                        int64_t offset, int64_t length);
  /* This rank's box: fills offsets[num_dims] and sizes[num_dims]. */
  titan_error* (*get_part)(const titan_tree* tree, titan_module module, uint32_t index, int64_t* offsets,
                           int64_t* sizes);
  /* Declares what a gradient is after backward along an axis: TITAN_GRADIENT_*. The data axes (dp_replicate, dp_shard,
   * cp) are partial and the others equal unless declared otherwise. Restored at each step's begin. */
  titan_error* (*declare_gradient)(titan_tree* tree, titan_module module, uint32_t index, titan_string axis,
                                   int32_t state);
  /* [training thread, during a step] Says that a reduction was done. */
  titan_error* (*mark_gradient)(titan_tree* tree, titan_module module, uint32_t index, titan_string axis,
                                int32_t state);
  /* In apply(): the strategy looks after these forms of the parameter (TITAN_OWN_* bits). One strategy a form. */
  titan_error* (*take_over)(titan_tree* tree, titan_module module, uint32_t index, int32_t forms);
  /* [training thread] The tensors of a parameter by TITAN_BOX_*; *out is a new reference, NULL where there is none.
   * set_box takes a reference of its own; NULL clears. Storage cannot be set: write into it without recording. */
  titan_error* (*get_box)(titan_tree* tree, titan_module module, uint32_t index, int32_t box, titan_tensor* out);
  titan_error* (*set_box)(titan_tree* tree, titan_module module, uint32_t index, int32_t box, titan_tensor tensor);
  /* The precision policy, as TITAN_FLOAT32... constants. */
  titan_error* (*precision)(const titan_tree* tree, int32_t* storage, int32_t* compute, int32_t* reduce);

  /* Since 0.3. Building: gives `module` a parameter that is another module's: one tensor, stored, reduced and saved
   * once, under its owner's name (tied weights). Split and initialiser are the owner's. */
  titan_error* (*share_parameter)(titan_tree* tree, titan_module module, titan_string name, titan_module owner,
                                  uint32_t index);
  /* An attribute of a leaf as it was declared; out->kind is 0 where it was not given. Texts live as long as the tree.
   */
  titan_error* (*module_attribute)(const titan_tree* tree, titan_module module, titan_string key, titan_attribute* out);
  /* The loss module, or the root where there is none. */
  titan_module (*loss_module)(const titan_tree* tree);
  /* In apply(): this rank runs these stages of the chain only, in that order of their indices. Parameters of other
   * blocks have no tensors here. Parameters outside the chain belong to the stage with the last block. One strategy. */
  titan_error* (*keep_chain)(titan_tree* tree, const titan_stage* stages, uint32_t num_stages);
  /* 1 where the parameter has tensors on this rank. */
  int32_t (*is_kept)(const titan_tree* tree, titan_module module, uint32_t index);

  /* In an interceptor or callback: what was worked out of `source` for `purpose` in this call of the parent, so that
   * children that are given the same tensor share it. memo_get gives NULL when there is nothing, or when `source` was
   * changed in place since. Both keep references, as long as the parent's frame lives. */
  titan_error* (*memo_get)(titan_frame* frame, titan_string purpose, titan_tensor source, titan_tensor* out);
  titan_error* (*memo_put)(titan_frame* frame, titan_string purpose, titan_tensor source, titan_tensor value);
  /* TITAN_PHASE_*. */
  int32_t (*frame_phase)(const titan_frame* frame);
  /* As next without a frame, in phase RECOMPUTATION: what runs inside runs in that phase too. */
  titan_error* (*recompute)(titan_next next, const titan_tensor* in, uint32_t num_in, titan_tensor* out,
                            uint32_t num_out);
  /* The state of this rank's generator of random numbers (uint8, a copy): operators with a `generator` argument that is
   * left out draw from it while a module of the tree runs. It is seeded with the seed + the pipeline stage. */
  titan_error* (*random_state)(const titan_tree* tree, titan_tensor* out);
  titan_error* (*set_random_state)(titan_tree* tree, titan_tensor state);
  /* Whose parameter it is: the module itself and `index`, or the owner of a shared one, with its index there. Who walks
   * all modules meets a shared parameter at each of them, and placements of it are its owner's. */
  titan_error* (*parameter_owner)(const titan_tree* tree, titan_module module, uint32_t index, titan_module* owner,
                                  uint32_t* owner_index);

  /* Since 0.5. As attach, for interceptors with something to declare: a set of TITAN_AROUND_* bits. Bits that the host
   * does not know are an error. Who stands around the chain's last block or the loss without a declaration makes the
   * host run both as they are, one after the other. */
  titan_error* (*attach_declared)(titan_tree* tree, titan_module module, int32_t priority, uint32_t declared,
                                  titan_around_fn around, void* self, void (*destroy)(void* self));
} titan_tree_v1;

#ifdef __cplusplus
}
#endif
