#include "core/app/engine_library.hpp"

#include <dlfcn.h>
#include <sys/resource.h>

#include <atomic>
#include <string>
#include <string_view>
#include <system_error>

#include "core/base/error.hpp"
#include "core/base/log_spdlog.hpp"

namespace titan::app {
namespace {

constexpr const char* kQuery = "titan_engine_query_v1";

constinit std::atomic<bool> is_open{false};

/// dlopen does not say why it could not map a library: where addresses are limited it is that.
bool lacks_address_space(std::string_view reason) {
  rlimit limit{};
  return ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
         (reason.find("failed to map") != std::string_view::npos ||
          reason.find("annot allocate memory") != std::string_view::npos);
}

/// dlerror's text names the library that is missing or wrong, which need not be the engine.
void* open_library(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw InputError("[engine] the engine library is missing: ", path.native(),
                     ": build the target titan_engine, or install titan whole");
  }
  // Lazily, for libtorch: most of its functions are never called. The engine itself is linked with -z now, so that one
  // it lacks is found here.
  void* library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr) {
    is_open = true;
    return library;
  }
  const char* reason = ::dlerror();
  if (reason != nullptr && lacks_address_space(reason)) {
    throw ResourceError("[engine] out of memory: no room for the engine library and libtorch: ", path.native(), ": ",
                        reason, ": the limit of address space (ulimit -v) is too low");
  }
  throw InputError("[engine] cannot open the engine library: ", path.native(), ": ", reason != nullptr ? reason : "",
                   ": it needs the libtorch it was built with: run tools/bootstrap.sh and build again");
}

}  // namespace

std::filesystem::path engine_path() {
  const std::filesystem::path program = std::filesystem::canonical("/proc/self/exe");
  return program.parent_path().parent_path() / "lib" / "libtitan_engine.so";
}

const Engine& open_engine(const std::filesystem::path& path) {
  const auto query = reinterpret_cast<EngineQuery>(::dlsym(open_library(path), kQuery));
  if (query == nullptr) throw AbiError("[engine] not an engine library: ", path.native(), ": it lacks ", kQuery);
  const Engine* engine = query();
  if (engine == nullptr || engine->struct_size != sizeof(Engine) || std::string_view(engine->build_id) != kBuildId) {
    throw AbiError("[engine] the engine library is of another build than this program: ", path.native(),
                   ": build both together");
  }
  engine->attach(&spdlog_sink, [] { return &breadcrumb(); });
  return *engine;
}

bool is_engine_open() { return is_open; }

}  // namespace titan::app
