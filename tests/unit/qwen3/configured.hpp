#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "plugins/qwen3/args.hpp"
#include "plugins/qwen3/presets.hpp"
#include "tests/unit/sdk/fake_host.hpp"
#include "titan/sdk/plugin.hpp"

namespace titan::qwen3 {

/// Declares what the plugin declares, without its entry.
class DeclaredOptions {
 public:
  static constexpr sdk::Identity kIdentity{
      .id = "org.test.qwen3", .name = "qwen3", .version = "0.0.0", .license = "MIT"};
  static void describe(sdk::Describe& d) {
    d.options(model_options());
    d.presets(presets());
  }
  explicit DeclaredOptions(sdk::Host) {}
};

/// A host with the model options, a preset and overrides applied.
class ConfiguredHost : public test::FakeHost {
 public:
  using Settings = std::initializer_list<std::pair<const char*, const char*>>;

  explicit ConfiguredHost(std::string_view preset = "", Settings settings = {}) {
    declare(*sdk::Entry<DeclaredOptions>::info());
    if (!preset.empty()) use_preset(preset);
    for (const auto& [name, value] : settings) set(name, value);
  }

  ModelArgs args() const { return read_args(sdk::Config(table())); }
};

}  // namespace titan::qwen3
