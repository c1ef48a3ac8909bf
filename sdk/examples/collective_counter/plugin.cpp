#include "counter.hpp"
#include "titan/sdk/observer.hpp"

namespace collective_counter {
namespace {

namespace sdk = titan::sdk;

/// One instance: one rank of one run.
class Plugin : public Counter {
 public:
  static constexpr sdk::Identity kIdentity{.id = "org.titan.example.collective_counter",
                                           .name = "collective_counter",
                                           .version = "0.1.0",
                                           .license = "Apache-2.0"};

  static void describe(sdk::Describe& declare) {
    declare.options(
        {{"collective_counter.log_steps", true, "Log a line per step, besides the rows in the dump folder."}});
  }

  using Counter::Counter;
};

}  // namespace
}  // namespace collective_counter

TITAN_PLUGIN(collective_counter::Plugin, titan::sdk::ObserverInterface);
