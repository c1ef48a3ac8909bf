#include "core/app/leave.hpp"

#include <unistd.h>

#include <cstdio>

#include "core/app/engine_library.hpp"
#include "core/app/rank_outcome.hpp"

namespace titan::app {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kRunsDestructors = true;  // leaks are looked for after them
#else
constexpr bool kRunsDestructors = false;
#endif

}  // namespace

int leave(int status) {
  // Threads that wait for lost peers may never end, and destructors at exit would wait for them.
  if (status != 0 && has_peers()) ::_exit(status);
  if (kRunsDestructors || !is_engine_open()) return status;
  // libtorch's take a tenth of a second to free one by one what the system frees at once.
  std::fflush(nullptr);
  ::_exit(status);
}

}  // namespace titan::app
