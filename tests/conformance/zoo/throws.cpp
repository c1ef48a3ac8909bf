// A plugin in C++ that throws from the one function its build names.
#include <stdexcept>
#include <string_view>

#include "titan/abi/plugin.h"

namespace {

void misbehave(std::string_view function) {
  if (function == ZOO_THROWS_FROM) throw std::out_of_range("boom");
}

constexpr titan_string text(std::string_view literal) { return {literal.data(), literal.size()}; }

titan_error* describe(const titan_describe_sink*) {
  misbehave("describe");
  return nullptr;
}

titan_error* init(const titan_host*, void** ctx) {
  misbehave("init");
  *ctx = nullptr;
  return nullptr;
}

const void* get_interface(void*, titan_string) {
  misbehave("get_interface");
  return nullptr;
}

void shutdown(void*) { misbehave("shutdown"); }

constexpr titan_plugin_info kInfo{sizeof(titan_plugin_info),
                                  TITAN_PLUGIN_MAGIC,
                                  TITAN_ABI_MAJOR,
                                  TITAN_ABI_MINOR,
                                  1,
                                  TITAN_TIER_STABLE,
                                  -1,
                                  -1,
                                  {},
                                  text("org.zoo.throws"),
                                  text("throws"),
                                  text("1.0.0"),
                                  text("MIT"),
                                  describe,
                                  init,
                                  get_interface,
                                  shutdown};

}  // namespace

TITAN_PLUGIN_NOTE(TITAN_TIER_STABLE);

extern "C" __attribute__((visibility("default"))) const titan_plugin_info* titan_plugin_query_v1(void) {
  misbehave("query");
  return &kInfo;
}
