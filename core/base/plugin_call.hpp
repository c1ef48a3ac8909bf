#pragma once

#include "core/base/breadcrumb.hpp"
#include "core/base/error.hpp"
#include "titan/abi/host.h"

namespace titan {

/// Throws the titan::Error of a TITAN_ERROR_* code, or Quit for a prompt where somebody quit.
[[noreturn]] void throw_abi_error(int code, const std::string& message);

/// Frees `error` and throws the titan::Error of its code: "[plugin] callback: text". Returns when it is null.
void throw_plugin_error(const titan_host* host, titan_error* error, const char* plugin, const char* callback);

/// Runs one call into a plugin, `call() -> titan_error*`. A returned error is thrown as by throw_plugin_error; a C++
/// exception that escaped becomes a PluginError that names plugin and callback.
template <class Call>
void plugin_call(const titan_host* host, const char* plugin, const char* callback, Call&& call) {
  titan_error* error = nullptr;
  try {
    BreadcrumbScope scope(plugin, callback);
    error = call();
  } catch (const std::exception& escaped) {
    throw PluginError("[", plugin, "] ", callback, ": a C++ exception crossed the plugin boundary: ", escaped.what());
  } catch (...) {
    throw PluginError("[", plugin, "] ", callback, ": a C++ exception crossed the plugin boundary");
  }
  throw_plugin_error(host, error, plugin, callback);
}

}  // namespace titan
