/* titan ABI, part 3: what the host offers every plugin.
 *
 * A plugin receives one host table in init() and may keep it until shutdown() returns. There is one table per plugin
 * instance; with several ranks in one process each rank's instance has its own. The table is the context: pass it
 * first.
 */
#pragma once
#include "titan/abi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tag of titan_config_value.kind. */
enum {
  TITAN_CONFIG_NONE = 0, /* the option is unset (None) */
  TITAN_CONFIG_BOOL = 1,
  TITAN_CONFIG_INT = 2,
  TITAN_CONFIG_FLOAT = 3,
  TITAN_CONFIG_STRING = 4, /* STRING and PATH options; TABLES options as JSON text */
  TITAN_CONFIG_STRINGS = 5
};

/* A resolved option value. Strings live as long as the host table. Frozen: never grows. */
typedef struct titan_config_value {
  int32_t kind;
  int32_t boolean;
  int64_t integer;
  double floating;
  titan_string string;
  const titan_string* strings;
  uint64_t num_strings;
} titan_config_value;

typedef struct titan_host titan_host;
struct titan_host {
  uint32_t struct_size;
  uint32_t rank;       /* global rank of this instance */
  uint32_t world_size; /* number of ranks of the run */
  uint32_t reserved;
  void* impl; /* the host's own */

  /* [any thread] Makes an error; never returns NULL. `code` is a TITAN_ERROR_* value. */
  titan_error* (*error_new)(const titan_host* host, int32_t code, titan_string text);
  /* [any thread] Code and text of an error. The text lives as long as the error. */
  int32_t (*error_code)(const titan_host* host, const titan_error* error);
  titan_string (*error_text)(const titan_host* host, const titan_error* error);
  /* [any thread] Frees an error that was received and is not passed on. NULL is allowed. */
  void (*error_release)(const titan_host* host, titan_error* error);

  /* [any thread] Writes one line to the log; `level` is a TITAN_LOG_* value, `tag` a short source name ("metrics"). */
  void (*log)(const titan_host* host, int32_t level, titan_string tag, titan_string text);

  /* [any thread] The host's interface of that id ("titan.tensor/1"), or NULL where it does not exist. The engine's
   * interfaces exist from init() on in runs that need tensors. The result lives as long as the process. */
  const void* (*get_interface)(const titan_host* host, titan_string id);

  /* [any thread] The resolved value of one declared option. Error: no such option. */
  titan_error* (*config_get)(const titan_host* host, titan_string name, titan_config_value* out);
};

#ifdef __cplusplus
}
#endif
