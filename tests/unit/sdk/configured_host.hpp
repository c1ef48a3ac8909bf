#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include "tests/unit/sdk/fake_host.hpp"
#include "titan/sdk/plugin.hpp"

namespace titan::test {

/// A host with a model's options, a preset and overrides applied; `kOptions`, `kPresets` and `kReadArgs` are the
/// model's functions.
template <auto kOptions, auto kPresets, auto kReadArgs>
class ConfiguredHost : public FakeHost {
 public:
  using Settings = std::initializer_list<std::pair<const char*, const char*>>;

  explicit ConfiguredHost(std::string_view preset = "", Settings settings = {}) {
    declare(*sdk::Entry<Declared>::info());
    if (!preset.empty()) use_preset(preset);
    for (const auto& [name, value] : settings) set(name, value);
  }

  auto args() const { return kReadArgs(sdk::Config(table())); }

 private:
  /// Declares what the plugin declares, without its entry.
  class Declared {
   public:
    static constexpr sdk::Identity kIdentity{
        .id = "org.test.model", .name = "model", .version = "0.0.0", .license = "MIT"};
    static void describe(sdk::Describe& d) {
      d.options(kOptions());
      d.presets(kPresets());
    }
    explicit Declared(sdk::Host) {}
  };
};

}  // namespace titan::test
