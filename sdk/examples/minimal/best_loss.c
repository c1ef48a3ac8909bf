/* The smallest useful plugin: an observer in plain C that remembers the lowest loss of a run and says so at its end.
 *
 * It links neither titan nor libtorch; it includes the ABI's headers and exports one function.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "titan/abi/observer.h"
#include "titan/abi/plugin.h"

/* A titan_string of a literal. */
#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

/* One instance: one rank of one run. There are no globals, because several ranks may share the process. */
typedef struct instance {
  const titan_host* host; /* valid until shutdown returns */
  double threshold;
  double best_loss;
  int64_t best_step;
} instance;

/* Observer callbacks: on the training thread, in order. An error would disable this observer and nothing else. */

static titan_error* step_end(void* ctx, const titan_step_event* event) {
  instance* self = ctx;
  if (event->loss < self->best_loss - self->threshold) {
    self->best_loss = event->loss;
    self->best_step = event->step;
  }
  return NULL;
}

static titan_error* run_end(void* ctx, const titan_run_end_event* event) {
  (void)event;
  const instance* self = ctx;
  if (self->best_step == 0) return NULL; /* the run ended before its first step */
  char line[96];
  const int size =
      snprintf(line, sizeof line, "lowest loss %.5f at step %lld", self->best_loss, (long long)self->best_step);
  const titan_string tag = TEXT("best_loss");
  const titan_string text = {line, (uint64_t)size};
  self->host->log(self->host, TITAN_LOG_INFO, tag, text);
  return NULL;
}

static const titan_observer_v1 kObserver = {
    .struct_size = sizeof(titan_observer_v1),
    .events = TITAN_EVENT_STEP_END | TITAN_EVENT_RUN_END,
    .step_end = step_end,
    .run_end = run_end,
};

/* What the plugin can be told. titan checks, documents and stores the value; no code of ours runs for --help. */
static titan_error* describe(const titan_describe_sink* sink) {
  const titan_string provides = TEXT(TITAN_OBSERVER_V1);
  titan_error* error = sink->provides(sink->ctx, provides);
  if (error != NULL) return error; /* an error of the host is passed on as it is */

  const titan_option threshold = {
      .struct_size = sizeof(titan_option),
      .type = TITAN_OPTION_FLOAT,
      .flags = TITAN_OPTION_HAS_MIN,
      .name = TEXT("best_loss.threshold"),
      .default_text = TEXT("0.0"),
      .help = TEXT("A loss counts as lower only when it is lower by more than this."),
      .min = 0,
  };
  return sink->option(sink->ctx, &threshold);
}

/* Makes an instance. On error nothing is left behind and shutdown is not called. */
static titan_error* init(const titan_host* host, void** ctx) {
  const titan_string name = TEXT("best_loss.threshold");
  titan_config_value threshold;
  titan_error* error = host->config_get(host, name, &threshold);
  if (error != NULL) return error;

  instance* self = malloc(sizeof *self);
  if (self == NULL) {
    const titan_string text = TEXT("[best_loss] out of memory");
    return host->error_new(host, TITAN_ERROR_RESOURCE, text);
  }
  *self = (instance){.host = host, .threshold = threshold.floating, .best_loss = INFINITY};
  *ctx = self;
  return NULL;
}

/* Unknown ids give NULL: a newer titan may ask for interfaces this plugin never heard of. */
static const void* get_interface(void* ctx, titan_string id) {
  (void)ctx;
  const titan_string known = TEXT(TITAN_OBSERVER_V1);
  return id.size == known.size && memcmp(id.data, known.data, known.size) == 0 ? &kObserver : NULL;
}

static void shutdown(void* ctx) { free(ctx); }

static const titan_plugin_info kInfo = {
    .struct_size = sizeof(titan_plugin_info),
    .magic = TITAN_PLUGIN_MAGIC,
    .abi_major = TITAN_ABI_MAJOR,
    .abi_minor = TITAN_ABI_MINOR,
    .abi_minor_needed = 1,
    .tier = TITAN_TIER_STABLE,
    .cxx11_abi = -1,
    .cuda_major = -1,
    .id = TEXT("org.titan.example.best_loss"),
    .name = TEXT("best_loss"),
    .version = TEXT("0.1.0"),
    .license = TEXT("Apache-2.0"),
    .describe = describe,
    .init = init,
    .get_interface = get_interface,
    .shutdown = shutdown,
};

/* titan reads the note before it opens the library, then calls the one exported function. */
TITAN_PLUGIN_NOTE(TITAN_TIER_STABLE);

__attribute__((visibility("default"))) const titan_plugin_info* titan_plugin_query_v1(void) { return &kInfo; }
