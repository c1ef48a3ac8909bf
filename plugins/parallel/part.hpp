#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "titan/sdk/config.hpp"
#include "titan/sdk/describe.hpp"
#include "titan/torch/strategy.hpp"

namespace titan::parallel {

/// Where the interceptors of each strategy stand: smaller runs further out. A pipeline attaches none: it cuts the
/// chain.
namespace priority {
inline constexpr std::int32_t kData = 200, kActivationCheckpoint = 300, kContext = 400, kExpert = 490, kTensor = 500;
}  // namespace priority

/// One strategy at work on a rank's tree. The events are those of titan.strategy/1.
class Part {
 public:
  virtual ~Part() = default;
  virtual void materialised() {}
  virtual strategy::Batch split_batch(const strategy::Batch& batch) { return batch; }
  virtual void micro_batch_begin(const titan_micro_batch&) {}
  virtual void backward_begin(const titan_micro_batch&) {}
  virtual void micro_batch_end(const titan_micro_batch&) {}
  virtual void step_end() {}
  virtual void updated() {}
  virtual void discard() {}
};

/// What strategies tell those that are applied after them.
struct Applied {
  std::set<std::string> expert_parameters;  // split by experts along "ep": their data ranks are the group "efsdp"
  std::vector<titan_stage> stages;          // of this rank; empty without a pipeline
};

/// One strategy of this plugin. Functions may be null.
struct Strategy {
  void (*describe)(sdk::Describe& declare);
  /// ConfigError for a layout or model that it cannot serve.
  void (*validate)(const sdk::Config& config, const titan_mesh_facts& mesh, const titan_model_facts& model);
  /// Places and attaches; null when there is nothing to do.
  std::shared_ptr<Part> (*apply)(const sdk::Host& host, const strategy::Tree& tree, const strategy::Mesh& mesh,
                                 Applied& applied);
};

}  // namespace titan::parallel
