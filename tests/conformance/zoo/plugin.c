/* A plugin that keeps the contract, apart from what its build overrides with ZOO_* definitions. */
#include <stdlib.h>
#include <string.h>

#include "titan/abi/observer.h"
#include "titan/abi/plugin.h"

#ifdef ZOO_ABI_MAJOR
#undef TITAN_ABI_MAJOR
#define TITAN_ABI_MAJOR ZOO_ABI_MAJOR
#endif
#ifndef ZOO_INFO_MAJOR
#define ZOO_INFO_MAJOR TITAN_ABI_MAJOR
#endif
#ifndef ZOO_MINOR_NEEDED
#define ZOO_MINOR_NEEDED 1
#endif
#ifndef ZOO_TIER
#define ZOO_TIER TITAN_TIER_STABLE
#endif
#ifndef ZOO_MAGIC
#define ZOO_MAGIC TITAN_PLUGIN_MAGIC
#endif
#ifndef ZOO_STRUCT_SIZE
#define ZOO_STRUCT_SIZE sizeof(titan_plugin_info)
#endif
#ifndef ZOO_TORCH_VERSION
#define ZOO_TORCH_VERSION "2.11.0"
#endif
#ifndef ZOO_CUDA_MAJOR
#define ZOO_CUDA_MAJOR -1
#endif
#ifndef ZOO_NAME
#define ZOO_NAME "zoo"
#endif

#define TEXT(literal) \
  { literal, sizeof(literal) - 1 }

#ifdef ZOO_ABORT_WHEN_OPENED
/* Refused files must not run any code: this would end the test with a signal. */
__attribute__((constructor)) static void opened(void) { abort(); }
#endif

static const titan_observer_v1 kObserver = {.struct_size = sizeof(titan_observer_v1)};

static titan_error* describe(const titan_describe_sink* sink) {
#ifdef ZOO_DUPLICATE_OPTION
  for (int i = 0; i < 2; ++i) {
    const titan_option option = {.struct_size = sizeof(titan_option),
                                 .type = TITAN_OPTION_INT,
                                 .name = TEXT("zoo.count"),
                                 .default_text = TEXT("1"),
                                 .help = TEXT("Counts.")};
    titan_error* refused = sink->option(sink->ctx, &option);
    if (refused != NULL) return refused;
  }
#endif
#ifdef ZOO_CYCLIC_PRESET
  const titan_preset presets[] = {
      {.struct_size = sizeof(titan_preset), .name = TEXT("chicken"), .summary = TEXT(""), .base = TEXT("egg")},
      {.struct_size = sizeof(titan_preset), .name = TEXT("egg"), .summary = TEXT(""), .base = TEXT("chicken")}};
  for (int i = 0; i < 2; ++i) {
    titan_error* refused = sink->preset(sink->ctx, &presets[i]);
    if (refused != NULL) return refused;
  }
#endif
#ifdef ZOO_FICKLE
  static int calls = 0;
  static const titan_string kIds[] = {TEXT("zoo.day/1"), TEXT("zoo.night/1")};
  return sink->provides(sink->ctx, kIds[calls++ % 2]);
#else
  const titan_string id = TEXT(TITAN_OBSERVER_V1);
  return sink->provides(sink->ctx, id);
#endif
}

static titan_error* init(const titan_host* host, void** ctx) {
#ifdef ZOO_INIT_FAILS
  (void)ctx;
  const titan_string text = TEXT("the moon is not full");
  return host->error_new(host, TITAN_ERROR_CONFIG, text);
#else
  (void)host;
  *ctx = malloc(1);
  return NULL;
#endif
}

static const void* get_interface(void* ctx, titan_string id) {
  (void)ctx;
#ifdef ZOO_ANSWERS_EVERYTHING
  (void)id;
  return &kObserver;
#else
  const titan_string known = TEXT(TITAN_OBSERVER_V1);
  return id.size == known.size && memcmp(id.data, known.data, known.size) == 0 ? &kObserver : NULL;
#endif
}

static void shutdown(void* ctx) { free(ctx); }

static const titan_plugin_info kInfo = {
    .struct_size = ZOO_STRUCT_SIZE,
    .magic = ZOO_MAGIC,
    .abi_major = ZOO_INFO_MAJOR,
    .abi_minor = TITAN_ABI_MINOR,
    .abi_minor_needed = ZOO_MINOR_NEEDED,
    .tier = ZOO_TIER,
    .cxx11_abi = ZOO_TIER == TITAN_TIER_TORCH ? 1 : -1,
    .cuda_major = ZOO_CUDA_MAJOR,
    .torch_version = TEXT(ZOO_TORCH_VERSION),
    .id = TEXT("org.zoo." ZOO_NAME),
    .name = TEXT(ZOO_NAME),
    .version = TEXT("1.0.0"),
    .license = TEXT("MIT"),
    .describe = describe,
    .init = init,
    .get_interface = get_interface,
    .shutdown = shutdown,
};

#ifndef ZOO_NO_NOTE
/* TITAN_PLUGIN_NOTE, with the minor of this build. */
__attribute__((section(".note.titan"), used, aligned(4))) static const titan_plugin_note kNote = {
    6, 16, 1, {'t', 'i', 't', 'a', 'n', 0, 0, 0}, TITAN_ABI_MAJOR, TITAN_ABI_MINOR, ZOO_MINOR_NEEDED, ZOO_TIER};
#endif

#ifndef ZOO_NO_SYMBOL
__attribute__((visibility("default"))) const titan_plugin_info* titan_plugin_query_v1(void) {
#ifdef ZOO_NULL_INFO
  (void)kInfo;
  return NULL;
#else
  return &kInfo;
#endif
}
#else
const titan_plugin_info* unused_info(void);
const titan_plugin_info* unused_info(void) { return &kInfo; }
#endif
