#include "core/app/session.hpp"

#include <utility>

#include "core/app/required_interface.hpp"
#include "core/base/abi_error.hpp"
#include "core/base/log.hpp"
#include "core/base/plugin_call.hpp"
#include "core/plugin/abi_text.hpp"
#include "titan/abi/model.h"

namespace titan::app {
namespace {

plugin::Search search_for(const config::Words& words) {
  plugin::Search search = plugin::default_search();
  for (const std::string& file : config::flag_values(words, "plugin")) search.files.emplace_back(file);
  const std::vector<std::string> modules = config::flag_values(words, "module");
  if (!modules.empty()) search.module = modules.back();
  return search;
}

using Settings = std::vector<config::Preset::Setting>;

titan_error* emit_setting(void* sink, titan_string option, titan_string value) {
  return abi_guard([&] {
    static_cast<Settings*>(sink)->push_back({std::string(plugin::view(option)), std::string(plugin::view(value))});
  });
}

}  // namespace

Session::Session(config::Registry verbs, const config::Words& words)
    : registry_(std::move(verbs)), plugins_(search_for(words)) {
  config::add_core_options(registry_);
  plugins_.register_options(registry_);
}

config::Resolution Session::resolve(const config::Verb& verb, const config::Words& words) const {
  config::Resolution resolution = config::resolve(
      registry_, verb, words,
      [this](const std::string& module, const std::string& hub_config) { return translate(module, hub_config); });
  for (const std::string& warning : resolution.warnings) log_warning("config", warning);
  return resolution;
}

config::CommandLine Session::read(const config::Verb& verb, const config::Words& words) const {
  config::Problems problems;
  config::CommandLine line = config::read_command_line(registry_, verb, {}, words, problems);
  problems.throw_if_any();
  return line;
}

Settings Session::translate(const std::string& module, const std::string& hub_config) const {
  const auto instance = plugins_.load(plugins_.find_model(module), {});
  const auto model = required_interface<titan_model_v1>(*instance, TITAN_MODEL_V1);
  Settings settings;
  plugin_call(instance->host(), model.plugin.c_str(), "hf_config",
              [&] { return model.table->hf_config(model.ctx, plugin::borrow(hub_config), &settings, emit_setting); });
  return settings;
}

}  // namespace titan::app
