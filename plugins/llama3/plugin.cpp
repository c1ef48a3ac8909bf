#include <cstdint>
#include <string_view>
#include <vector>

#include "plugins/llama3/args.hpp"
#include "plugins/llama3/facts.hpp"
#include "plugins/llama3/hf_config.hpp"
#include "plugins/llama3/hf_names.hpp"
#include "plugins/llama3/model.hpp"
#include "plugins/llama3/presets.hpp"
#include "titan/sdk/model.hpp"

namespace titan::llama3 {
namespace {

class Plugin {
 public:
  static constexpr sdk::Identity kIdentity{
      .id = "org.titan.llama3", .name = "llama3", .version = "0.1.0", .license = "Apache-2.0"};

  static void describe(sdk::Describe& d) {
    d.options(model_options());
    d.presets(presets());
  }

  explicit Plugin(sdk::Host host) : host_(host) {}

  titan_model_facts facts(std::int64_t sequence_length) const { return model_facts(args(), sequence_length); }
  void build(Scope& root) const { build_transformer(root, args()); }
  std::vector<sdk::HfName> hf_names() const { return llama3::hf_names(args()); }
  std::vector<sdk::HfSetting> hf_config(std::string_view json) const { return llama3::hf_config(json); }

 private:
  // Read on each use: hf_config runs before the configuration is complete.
  ModelArgs args() const { return read_args(host_.config()); }

  sdk::Host host_;
};

}  // namespace
}  // namespace titan::llama3

TITAN_PLUGIN(titan::llama3::Plugin, titan::sdk::ModelInterface);
