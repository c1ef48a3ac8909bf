/* titan ABI, part 4: the one symbol a plugin exports.
 *
 *   const titan_plugin_info* titan_plugin_query_v1(void);
 *
 * Pure: returns static data, may be called at any time, many times, from any thread, without a GPU or a configuration.
 * The host reads the ELF note before it opens the library, then calls, in this order and on one thread: query, describe
 * (may be the only calls ever made; they allocate nothing that outlives them and touch no device), and for a selected
 * plugin init, get_interface, and at the end shutdown. init() may be called several times in one process: once for each
 * rank. A plugin library is never unloaded.
 */
#pragma once
#include "titan/abi/host.h"
#include "titan/abi/options.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TITAN_PLUGIN_MAGIC 0x314e5454u /* "TTN1" */

enum {
  TITAN_TIER_STABLE = 1, /* links neither the host nor libtorch; all tensor work goes through titan.tensor/1 */
  TITAN_TIER_TORCH = 2   /* links libtorch; torch_version, cxx11_abi and cuda_major must equal the host's */
};

typedef struct titan_plugin_info {
  uint32_t struct_size;
  uint32_t magic;             /* TITAN_PLUGIN_MAGIC */
  uint32_t abi_major;         /* built with */
  uint32_t abi_minor;         /* built with */
  uint32_t abi_minor_needed;  /* the oldest host minor that will do */
  int32_t tier;               /* TITAN_TIER_* */
  int32_t cxx11_abi;          /* torch tier: _GLIBCXX_USE_CXX11_ABI; stable tier: -1 */
  int32_t cuda_major;         /* torch tier: CUDA major libtorch was built for, 0 for none; stable tier: -1 */
  titan_string torch_version; /* torch tier: "2.11.0"; stable tier: absent */
  titan_string id;            /* reverse URI, unique: "org.titan.llama3" */
  titan_string name;          /* what the user types: "llama3"; [a-z0-9_]+ */
  titan_string version;       /* of the plugin, semantic */
  titan_string license;       /* SPDX expression */

  /* Emits options, presets and the interface ids this plugin provides. Called twice it emits the same. */
  titan_error* (*describe)(const titan_describe_sink* sink);
  /* Makes one instance. On error *ctx is ignored and shutdown is not called. */
  titan_error* (*init)(const titan_host* host, void** ctx);
  /* The instance's interface of that id, or NULL. The result lives until shutdown. Unknown ids give NULL. */
  const void* (*get_interface)(void* ctx, titan_string id);
  /* Frees the instance. The host calls no interface of it afterwards. */
  void (*shutdown)(void* ctx);
} titan_plugin_info;

typedef const titan_plugin_info* (*titan_plugin_query_fn)(void);
#define TITAN_PLUGIN_QUERY_SYMBOL "titan_plugin_query_v1"

/* The ELF note (name "titan", type 1) that lets the host judge a file before opening it. Frozen: never grows. */
typedef struct titan_plugin_note {
  uint32_t name_size; /* 6 */
  uint32_t desc_size; /* 16 */
  uint32_t type;      /* 1 */
  char name[8];       /* "titan" and padding */
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t abi_minor_needed;
  int32_t tier;
} titan_plugin_note;

/* Place once, at file scope, in the source that defines titan_plugin_query_v1. */
#define TITAN_PLUGIN_NOTE(tier_)                                                            \
  __attribute__((section(".note.titan"), used,                                              \
                 aligned(4))) static const titan_plugin_note titan_plugin_note_instance = { \
      6, 16, 1, {'t', 'i', 't', 'a', 'n', 0, 0, 0}, TITAN_ABI_MAJOR, TITAN_ABI_MINOR, 1, tier_}

#ifdef __cplusplus
}
#endif
