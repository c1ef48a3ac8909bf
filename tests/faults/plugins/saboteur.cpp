#include <cstdint>
#include <string>

#include "tests/cli/plugins/moments.hpp"
#include "titan/sdk/strategy.hpp"

namespace {

/// Changes nothing of the run and misbehaves in the middle of a step, where what a plugin throws ends the run: its
/// moments are "begin:N", "end:N" (of a micro-batch) and "updated:N", each with the number of the step.
class Saboteur {
 public:
  static constexpr titan::sdk::Identity kIdentity{
      .id = "org.titan.test.saboteur", .name = "saboteur", .version = "0.1.0", .license = "Apache-2.0"};
  static constexpr std::int32_t kPriority = 900;

  static void describe(titan::sdk::Describe&) {}
  explicit Saboteur(titan::sdk::Host) {}

  void apply(titan::sdk::TreeHandle, titan::sdk::MeshHandle) {}
  void micro_batch_begin(const titan_micro_batch& batch) {
    if (batch.index == 0) ++step_;
    at("begin:");
  }
  void micro_batch_end(const titan_micro_batch&) { at("end:"); }
  void updated() { at("updated:"); }
  void discard() {}

 private:
  void at(const std::string& name) const { titan::mischief::moment(name + std::to_string(step_)); }

  std::int64_t step_ = 0;
};

}  // namespace

TITAN_PLUGIN(Saboteur, titan::sdk::StrategyInterface);
