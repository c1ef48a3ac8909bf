#include <string>

#include "tests/cli/plugins/moments.hpp"
#include "titan/sdk/observer.hpp"
#include "titan/sdk/plugin.hpp"

namespace {

using titan::mischief::moment;

class Mischief {
 public:
  static constexpr titan::sdk::Identity kIdentity{
      .id = "org.titan.test.mischief", .name = "mischief", .version = "0.1.0", .license = "Apache-2.0"};

  static void describe(titan::sdk::Describe&) { moment("describe"); }

  explicit Mischief(titan::sdk::Host) { moment("init"); }
  ~Mischief() { moment("shutdown"); }

  void run_begin(const titan_run_event&) { moment("run_begin"); }
  void step_end(const titan_step_event& event) {
    moment("step");
    moment("step:" + std::to_string(event.step));
  }
  void validation(const titan_validation_event&) { moment("validation"); }
  void run_end(const titan_run_end_event&) { moment("run_end"); }
};

}  // namespace

TITAN_PLUGIN(Mischief, titan::sdk::ObserverInterface);
