#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "titan/sdk/error.hpp"
#include "titan/sdk/options.hpp"

namespace titan::sdk {

/// Receives what a plugin declares, during its static describe(). An error of the host leaves describe() as an
/// exception.
class Describe {
 public:
  explicit Describe(const titan_describe_sink* sink) noexcept : sink_(sink) {}

  /// Declares one option.
  void option(const Option& option) {
    titan_option data{};
    data.struct_size = sizeof data;
    data.type = option.default_value.type;
    data.flags = option.flags;
    data.name = borrow(option.name);
    data.default_text = option.default_value.is_none ? kAbsent : borrow(option.default_value.text);
    data.help = borrow(option.help);
    data.metavar = option.metavar.empty() ? kAbsent : borrow(option.metavar);
    data.num_choices = static_cast<std::uint32_t>(option.choices.size());
    data.choices = option.choices.data();
    data.min = option.min;
    data.max = option.max;
    check(sink_->option(sink_->ctx, &data));
  }
  void options(const std::vector<Option>& list) {
    for (const Option& one : list) option(one);
  }

  /// Declares one preset.
  void preset(const Preset& preset) {
    std::vector<titan_setting> settings;
    for (const Setting& setting : preset.settings)
      settings.push_back({borrow(setting.name), borrow(setting.value.text)});
    titan_preset data{};
    data.struct_size = sizeof data;
    data.num_settings = static_cast<std::uint32_t>(settings.size());
    data.name = borrow(preset.name);
    data.summary = borrow(preset.summary);
    data.base = preset.base.empty() ? kAbsent : borrow(preset.base);
    data.settings = settings.data();
    check(sink_->preset(sink_->ctx, &data));
  }
  void presets(const std::vector<Preset>& list) {
    for (const Preset& one : list) preset(one);
  }

  /// Declares an interface id. Adapters named in TITAN_PLUGIN are declared without it.
  void provides(std::string_view interface_id) { check(sink_->provides(sink_->ctx, borrow(interface_id))); }

  /// Carries an error object of the sink, which describe() has to return at once.
  struct Failed {
    titan_error* error;
  };

 private:
  static void check(titan_error* error) {
    if (error != nullptr) throw Failed{error};
  }

  const titan_describe_sink* sink_;
};

/// Runs `body(Describe&)` against a sink and returns its error object, or null.
template <class Body>
titan_error* describe_into(const titan_describe_sink* sink, Body&& body) noexcept {
  try {
    Describe describe(sink);
    std::forward<Body>(body)(describe);
    return nullptr;
  } catch (const Describe::Failed& failed) {
    return failed.error;
  } catch (...) {
    return current_error(
        [sink](std::int32_t code, titan_string text) { return sink->error_new(sink->ctx, code, text); });
  }
}

}  // namespace titan::sdk
