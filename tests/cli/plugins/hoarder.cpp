#include <map>
#include <string>

#include "titan/abi/memory.h"
#include "titan/sdk/observer.hpp"
#include "titan/sdk/plugin.hpp"
#include "titan/sdk/strategy.hpp"
#include "titan/sdk/tensor_api.hpp"

namespace {

/// Takes all memory that debug.memory_limit_gib leaves when a phase begins: the next one who asks for any has none. In
/// "build", where nobody asks, it does so itself, as a strategy.
class Hoarder {
 public:
  static constexpr titan::sdk::Identity kIdentity{
      .id = "org.titan.test.hoarder", .name = "hoarder", .version = "0.1.0", .license = "Apache-2.0"};

  static constexpr std::int32_t kPriority = 900;

  static void describe(titan::sdk::Describe& declare) {
    declare.options({
        {"hoarder.phase", "none", "Phase in which memory is taken."},
        {"hoarder.step", 0, "Step in which it is."},
    });
  }

  explicit Hoarder(titan::sdk::Host host)
      : memory_(host.require<titan_memory_v1>(TITAN_MEMORY_V1)),
        tensors_(host),
        phase_(host.config().string("hoarder.phase")),
        step_(host.config().integer("hoarder.step")) {}

  void apply(titan::sdk::TreeHandle, titan::sdk::MeshHandle) {
    if (phase_ == "build") take(rest() + 1);
  }

  void span(const titan_span_event& event) {
    static const std::map<std::string, std::int32_t> kPhases{{"init", TITAN_IN_INIT},
                                                             {"load", TITAN_IN_LOAD},
                                                             {"data", TITAN_IN_DATA},
                                                             {"forward", TITAN_IN_FORWARD},
                                                             {"backward", TITAN_IN_BACKWARD},
                                                             {"optimizer", TITAN_IN_OPTIMIZER},
                                                             {"validation", TITAN_IN_VALIDATION},
                                                             {"save", TITAN_IN_SAVE}};
    const auto wanted = kPhases.find(phase_);
    if (wanted == kPhases.end() || event.phase != wanted->second || event.step != step_ || event.is_end != 0) return;
    take(rest());
  }

 private:
  std::int64_t rest() const {
    titan_memory_counters now{};
    now.struct_size = sizeof now;
    memory_->counters(&now);
    return static_cast<std::int64_t>(now.limit - now.live);
  }
  void take(std::int64_t bytes) const {
    titan_tensor taken = nullptr;
    tensors_.host().check(tensors_.table().empty(&bytes, 1, TITAN_UINT8, TITAN_DEVICE_CPU, &taken));
  }

  const titan_memory_v1* memory_;
  titan::sdk::TensorApi tensors_;
  std::string phase_;
  std::int64_t step_;
};

}  // namespace

TITAN_PLUGIN(Hoarder, titan::sdk::ObserverInterface, titan::sdk::StrategyInterface);
