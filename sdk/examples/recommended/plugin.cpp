#include <cstdint>
#include <string_view>
#include <vector>

#include "args.hpp"
#include "model.hpp"
#include "titan/sdk/model.hpp"

namespace minigpt {
namespace {

namespace sdk = titan::sdk;

/// One instance: one rank of one run.
class Plugin {
 public:
  static constexpr sdk::Identity kIdentity{
      .id = "org.titan.example.minigpt", .name = "minigpt", .version = "0.1.0", .license = "Apache-2.0"};

  /// Called alone for --help and at build time: declares, and does nothing else.
  static void describe(sdk::Describe& d) {
    d.options(model_options());
    d.presets(presets());
  }

  explicit Plugin(sdk::Host host) : host_(host) {}

  titan_model_facts facts(std::int64_t sequence_length) const { return model_facts(args(), sequence_length); }
  void build(Scope& root) const { build_model(root, args()); }

  // No model of this shape is on the hub, so there are no names to translate.
  std::vector<sdk::HfName> hf_names() const { return {}; }
  std::vector<sdk::HfSetting> hf_config(std::string_view) const {
    throw sdk::ConfigError("[minigpt] hub configurations are not known to this model: use a preset or a TOML file");
  }

 private:
  ModelArgs args() const { return read_args(host_.config()); }

  sdk::Host host_;
};

}  // namespace
}  // namespace minigpt

TITAN_PLUGIN(minigpt::Plugin, titan::sdk::ModelInterface);
