/* titan ABI, part 2: options and presets as data.
 *
 * A plugin declares what it can be told; the host parses, checks, documents and stores the values. Declarations are
 * pure data: the host copies every string during the sink call.
 */
#pragma once
#include "titan/abi/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Option types. Texts are written as on the command line; TOML uses its own types for the same values. */
enum {
  TITAN_OPTION_BOOL = 1,    /* an action on the command line: --a.b, --a.no_b, --a.no-b, --a.b=false */
  TITAN_OPTION_INT = 2,     /* int64_t, decimal */
  TITAN_OPTION_FLOAT = 3,   /* double; an integer text is accepted */
  TITAN_OPTION_STRING = 4,  /* text; see choices */
  TITAN_OPTION_PATH = 5,    /* text naming a file or folder, relative to the current folder */
  TITAN_OPTION_STRINGS = 6, /* list of texts, comma separated on the command line */
  TITAN_OPTION_TABLES = 7   /* list of TOML tables; JSON text on the command line and across this ABI */
};

/* Option flags. */
enum {
  TITAN_OPTION_HAS_MIN = 1,       /* `min` holds for INT and FLOAT */
  TITAN_OPTION_HAS_MAX = 2,       /* `max` holds for INT and FLOAT */
  TITAN_OPTION_MIN_EXCLUSIVE = 4, /* the value must be greater than `min`, not equal */
  TITAN_OPTION_NULLABLE = 8,      /* "None" is a value; a NULL default_text means None */
  TITAN_OPTION_MUST_MATCH = 16,   /* all ranks must have the same value */
  TITAN_OPTION_HIDDEN = 32        /* not shown by --help */
};

typedef struct titan_option {
  uint32_t struct_size;
  int32_t type;              /* TITAN_OPTION_* type */
  uint32_t flags;            /* TITAN_OPTION_* flags */
  uint32_t num_choices;      /* 0: anything of the type */
  titan_string name;         /* dotted and complete: "metrics.log_freq" */
  titan_string default_text; /* data == NULL: None (then NULLABLE is required) */
  titan_string help;         /* one sentence, with the unit */
  titan_string metavar;      /* data == NULL: chosen from the type */
  const titan_string* choices;
  double min;
  double max;
} titan_option;

/* One "option = value" of a preset, value written as on the command line. Frozen: never grows. */
typedef struct titan_setting {
  titan_string name;
  titan_string value;
} titan_setting;

/* A named set of option values; `base` names another preset of the same plugin that is applied first. */
typedef struct titan_preset {
  uint32_t struct_size;
  uint32_t num_settings;
  titan_string name;
  titan_string summary;
  titan_string base; /* data == NULL: none */
  const titan_setting* settings;
} titan_preset;

/* Receives what a plugin declares. Valid during describe() only; every call is on describe()'s thread. An error that a
 * function returns is to be returned by describe() at once. */
typedef struct titan_describe_sink {
  uint32_t struct_size;
  void* ctx;
  titan_error* (*option)(void* ctx, const titan_option* option);
  titan_error* (*preset)(void* ctx, const titan_preset* preset);
  titan_error* (*provides)(void* ctx, titan_string interface_id); /* e.g. "titan.model/1" */
  titan_error* (*error_new)(void* ctx, int32_t code, titan_string text);
} titan_describe_sink;

#ifdef __cplusplus
}
#endif
