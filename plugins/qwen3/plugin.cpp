#include <cstdint>
#include <string_view>
#include <vector>

#include "plugins/qwen3/args.hpp"
#include "plugins/qwen3/facts.hpp"
#include "plugins/qwen3/hf_config.hpp"
#include "plugins/qwen3/hf_names.hpp"
#include "plugins/qwen3/model.hpp"
#include "plugins/qwen3/presets.hpp"
#include "titan/sdk/model.hpp"

namespace titan::qwen3 {
namespace {

class Plugin {
 public:
  static constexpr sdk::Identity kIdentity{
      .id = "org.titan.qwen3", .name = "qwen3", .version = "0.1.0", .license = "Apache-2.0"};

  static void describe(sdk::Describe& d) {
    d.options(model_options());
    d.presets(presets());
  }

  explicit Plugin(sdk::Host host) : host_(host) {}

  titan_model_facts facts(std::int64_t sequence_length) const { return model_facts(args(), sequence_length); }
  void build(Scope& root) const { build_transformer(root, args()); }
  std::vector<sdk::HfName> hf_names() const { return qwen3::hf_names(args()); }
  std::vector<sdk::HfSetting> hf_config(std::string_view json) const { return qwen3::hf_config(json); }

 private:
  // Read on each use: hf_config runs before the configuration is complete.
  ModelArgs args() const { return read_args(host_.config()); }

  sdk::Host host_;
};

}  // namespace
}  // namespace titan::qwen3

TITAN_PLUGIN(titan::qwen3::Plugin, titan::sdk::ModelInterface);
