#include "titan/sdk/plugin.hpp"
#include "plugins/observability/breakpoint/breakpoint.hpp"
#include "plugins/observability/flight_recorder/flight_recorder.hpp"
#include "plugins/observability/memory/memory_tool.hpp"
#include "plugins/observability/metrics/metrics.hpp"
#include "plugins/observability/numerics/locator.hpp"
#include "plugins/observability/numerics/sdc_replay.hpp"
#include "plugins/observability/profiler/profiler.hpp"
#include "plugins/observability/spans/spans.hpp"
#include "plugins/observability/toolbox.hpp"
#include "titan/sdk/guard.hpp"
#include "titan/sdk/observer.hpp"
#include "titan/torch/strategy.hpp"

namespace titan::observability {
namespace {

/// All tools, one line each. Of tools that stand around a step the first is outermost.
constexpr ToolEntry kTools[] = {
    {&Breakpoint::describe, &Breakpoint::make}, {&FlightRecorder::describe, &FlightRecorder::make},
    {&MemoryTool::describe, &MemoryTool::make}, {&Metrics::describe, &Metrics::make},
    {&SdcReplay::describe, &SdcReplay::make},   {&NonFiniteLocator::describe, &NonFiniteLocator::make},
    {&Spans::describe, &Spans::make},           {&Profiler::describe, &Profiler::make},
};

class Plugin : public Toolbox {
 public:
  static constexpr sdk::Identity kIdentity{.id = "org.titan.observability",
                                           .name = "observability",
                                           .version = "0.2.0",
                                           .license = "Apache-2.0",
                                           .tier = TITAN_TIER_TORCH,
                                           .torch_version = TITAN_TORCH_VERSION,
                                           .cxx11_abi = _GLIBCXX_USE_CXX11_ABI,
                                           .cuda_major = TITAN_TORCH_CUDA_MAJOR};

  static void describe(sdk::Describe& declare) {
    for (const ToolEntry& tool : kTools) tool.describe(declare);
  }

  explicit Plugin(sdk::Host host) : Toolbox(host, kTools) {}
};

}  // namespace

/// Its tools throw libtorch's errors too.
template <class P>
struct Guard : sdk::GuardedGuard<P, strategy::CallbackGuard> {};

}  // namespace titan::observability

TITAN_PLUGIN(titan::observability::Plugin, titan::sdk::ObserverInterface, titan::observability::Guard);
