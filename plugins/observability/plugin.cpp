#include "titan/sdk/plugin.hpp"
#include "plugins/observability/metrics_observer.hpp"
#include "titan/sdk/observer.hpp"

namespace titan::observability {
namespace {

/// The metrics of a run, on the console and in files.
class Plugin : public MetricsObserver {
 public:
  static constexpr sdk::Identity kIdentity{
      .id = "org.titan.observability", .name = "observability", .version = "0.1.0", .license = "Apache-2.0"};

  static void describe(sdk::Describe& declare) {
    declare.options({
        {"metrics.log_freq", 10, "Steps between two metrics lines; the first and the last step always have one.",
         sdk::above(0)},
        {"metrics.disable_color_printing", false, "Print metrics lines without colours, on terminals too."},
    });
  }

  using MetricsObserver::MetricsObserver;
};

}  // namespace
}  // namespace titan::observability

TITAN_PLUGIN(titan::observability::Plugin, titan::sdk::ObserverInterface);
