#include "tests/unit/sdk/fake_host.hpp"

#include <sstream>
#include <stdexcept>

struct titan_error {
  std::int32_t code;
  std::string text;
};

namespace titan::test {
namespace {

std::string copy(titan_string text) {
  return text.data == nullptr ? std::string() : std::string(text.data, static_cast<std::size_t>(text.size));
}

titan_string borrow(const std::string& text) { return {text.data(), text.size()}; }

}  // namespace

struct FakeHostCallbacks {
  static FakeHost& of(const titan_host* host) { return *static_cast<FakeHost*>(host->impl); }

  static titan_error* error_new(const titan_host* host, std::int32_t code, titan_string text) {
    ++of(host).live_errors_;
    return new titan_error{code, copy(text)};
  }
  static std::int32_t error_code(const titan_host*, const titan_error* error) { return error->code; }
  static titan_string error_text(const titan_host*, const titan_error* error) { return borrow(error->text); }
  static void error_release(const titan_host* host, titan_error* error) {
    if (error != nullptr) --of(host).live_errors_;
    delete error;
  }
  static void log(const titan_host* host, std::int32_t level, titan_string tag, titan_string text) {
    of(host).log_.push_back(std::to_string(level) + " [" + copy(tag) + "] " + copy(text));
  }
  static const void* get_interface(const titan_host* host, titan_string id) {
    const auto found = of(host).interfaces_.find(copy(id));
    return found == of(host).interfaces_.end() ? nullptr : found->second;
  }
  static titan_error* config_get(const titan_host* host, titan_string name, titan_config_value* out) {
    if (!of(host).options_.contains(copy(name)))
      return error_new(host, TITAN_ERROR_INTERNAL, borrow("no option " + copy(name)));
    of(host).fill(copy(name), *out);
    return nullptr;
  }

  static titan_error* option(void* ctx, const titan_option* option) {
    auto& host = *static_cast<FakeHost*>(ctx);
    if (host.options_.contains(copy(option->name)))
      return error_new(host.table(), TITAN_ERROR_INTERNAL, borrow("declared twice: " + copy(option->name)));
    FakeHost::Option made;
    made.type = option->type;
    made.flags = option->flags;
    made.is_none = option->default_text.data == nullptr;
    made.text = copy(option->default_text);
    made.help = copy(option->help);
    made.metavar = copy(option->metavar);
    for (std::uint32_t i = 0; i < option->num_choices; ++i) made.choices.push_back(copy(option->choices[i]));
    made.min = option->min;
    made.max = option->max;
    host.options_.emplace(copy(option->name), std::move(made));
    return nullptr;
  }
  static titan_error* preset(void* ctx, const titan_preset* preset) {
    FakeHost::Preset made{copy(preset->name), copy(preset->summary), copy(preset->base), {}};
    for (std::uint32_t i = 0; i < preset->num_settings; ++i)
      made.settings.emplace_back(copy(preset->settings[i].name), copy(preset->settings[i].value));
    static_cast<FakeHost*>(ctx)->presets_.push_back(std::move(made));
    return nullptr;
  }
  static titan_error* provides(void* ctx, titan_string id) {
    static_cast<FakeHost*>(ctx)->provides_.push_back(copy(id));
    return nullptr;
  }
  static titan_error* sink_error_new(void* ctx, std::int32_t code, titan_string text) {
    return error_new(static_cast<FakeHost*>(ctx)->table(), code, text);
  }
};

FakeHost::FakeHost() {
  using C = FakeHostCallbacks;
  table_ = {sizeof table_,
            0,
            1,
            0,
            this,
            &C::error_new,
            &C::error_code,
            &C::error_text,
            &C::error_release,
            &C::log,
            &C::get_interface,
            &C::config_get};
}

void FakeHost::declare(const titan_plugin_info& plugin) {
  using C = FakeHostCallbacks;
  const titan_describe_sink sink{sizeof sink, this, &C::option, &C::preset, &C::provides, &C::sink_error_new};
  if (titan_error* error = plugin.describe(&sink)) throw std::runtime_error(take(error));
}

void FakeHost::declare(const std::string& name, std::int32_t type, const std::string& text) {
  options_[name] = {type, 0, false, text, "", "", {}, 0, 0};
}

void FakeHost::set(const std::string& name, const std::string& text) {
  Option& option = options_.at(name);
  option.is_none = text == "None";
  option.text = text;
}

std::vector<std::string> FakeHost::use_preset(std::string_view name) {
  const Preset& chosen = preset(name);
  std::vector<std::string> undeclared;
  if (!chosen.base.empty()) undeclared = use_preset(chosen.base);
  for (const auto& [option, text] : chosen.settings) {
    if (options_.contains(option)) {
      set(option, text);
    } else {
      undeclared.push_back(option);
    }
  }
  return undeclared;
}

const FakeHost::Preset& FakeHost::preset(std::string_view name) const {
  for (const Preset& one : presets_)
    if (one.name == name) return one;
  throw std::out_of_range("no preset " + std::string(name));
}

std::string FakeHost::take(titan_error* error) const {
  if (error == nullptr) return "";
  const std::string text = std::to_string(error->code) + ": " + error->text;
  table_.error_release(&table_, error);
  return text;
}

void FakeHost::fill(const std::string& name, titan_config_value& out) {
  const Option& option = options_.at(name);
  out = {};
  if (option.is_none) return;
  switch (option.type) {
    case TITAN_OPTION_BOOL:
      out.kind = TITAN_CONFIG_BOOL;
      out.boolean = option.text == "true" ? 1 : 0;
      break;
    case TITAN_OPTION_INT:
      out.kind = TITAN_CONFIG_INT;
      out.integer = std::stoll(option.text);
      break;
    case TITAN_OPTION_FLOAT:
      out.kind = TITAN_CONFIG_FLOAT;
      out.floating = std::stod(option.text);
      break;
    case TITAN_OPTION_STRINGS: {
      out.kind = TITAN_CONFIG_STRINGS;
      auto& list = lists_.emplace_back();
      std::istringstream text(option.text);
      for (std::string item; std::getline(text, item, ',');) list.push_back(borrow(items_.emplace_back(item)));
      out.strings = list.data();
      out.num_strings = list.size();
      break;
    }
    default:
      out.kind = TITAN_CONFIG_STRING;
      out.string = borrow(option.text);
  }
}

}  // namespace titan::test
