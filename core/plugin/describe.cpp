#include "core/plugin/describe.hpp"

#include <exception>
#include <string>
#include <utility>

#include "core/base/abi_error.hpp"
#include "core/base/plugin_call.hpp"
#include "core/config/parse.hpp"
#include "core/plugin/abi_text.hpp"
#include "core/plugin/host_table.hpp"
#include "core/plugin/load_problem.hpp"

namespace titan::plugin {
namespace {

constexpr std::uint32_t kFirstOptionSize = offsetof(titan_option, max) + sizeof(titan_option::max);
constexpr std::uint32_t kFirstPresetSize = offsetof(titan_preset, settings) + sizeof(titan_preset::settings);

constexpr std::uint64_t kMaxNameSize = 256;
constexpr std::uint64_t kMaxTextSize = 1U << 16U;
constexpr std::uint32_t kMaxItems = 4096;

template <class... Parts>
[[noreturn]] void refuse(const Parts&... reason) {
  throw LoadProblem(Exit::internal, concat(reason...), "correct the plugin");
}

void check_size(const char* what, std::uint32_t size, std::uint32_t first) {
  if (size >= first) return;
  throw LoadProblem(Exit::abi, concat(what, " is too small: ", size, " bytes, at least ", first, " are needed"),
                    "set struct_size to the size of the struct, and rebuild with this titan's SDK");
}

void check_count(const char* what, std::uint64_t count, const void* first) {
  if (count > kMaxItems) refuse(what, " are too many: ", count, ", the limit is ", kMaxItems);
  if (count > 0 && first == nullptr) refuse(what, " are announced but absent: ", count);
}

config::Type type_of(const std::string& name, std::int32_t type) {
  switch (type) {
    case TITAN_OPTION_BOOL:
      return config::Type::boolean;
    case TITAN_OPTION_INT:
      return config::Type::integer;
    case TITAN_OPTION_FLOAT:
      return config::Type::floating;
    case TITAN_OPTION_STRING:
      return config::Type::string;
    case TITAN_OPTION_PATH:
      return config::Type::path;
    case TITAN_OPTION_STRINGS:
      return config::Type::strings;
    case TITAN_OPTION_TABLES:
      return config::Type::tables;
    default:
      refuse("option ", name, " has an unknown type: ", type);
  }
}

config::Value default_of(const config::Option& option, titan_string text) {
  if (text.data == nullptr) {
    if (!option.nullable) refuse("option ", option.name, " has no default and is not nullable");
    return {};
  }
  try {
    return config::parse_value(option, copy_text(text, option.name, kMaxTextSize));
  } catch (const ConfigError& error) {
    refuse("option ", option.name, " has a wrong default: ", error.what());
  }
}

config::Option to_option(const titan_option& in, const std::string& owner) {
  check_size("struct titan_option", in.struct_size, kFirstOptionSize);
  config::Option out;
  out.name = copy_text(in.name, "an option's name", kMaxNameSize);
  out.type = type_of(out.name, in.type);
  out.help = copy_text(in.help, out.name, kMaxTextSize);
  out.metavar = copy_text(in.metavar, out.name, kMaxNameSize);
  check_count("choices", in.num_choices, in.choices);
  for (std::uint32_t i = 0; i < in.num_choices; ++i) {
    out.choices.push_back(copy_text(in.choices[i], out.name, kMaxNameSize));
  }
  if ((in.flags & TITAN_OPTION_HAS_MIN) != 0) out.min = in.min;
  if ((in.flags & TITAN_OPTION_HAS_MAX) != 0) out.max = in.max;
  out.min_exclusive = (in.flags & TITAN_OPTION_MIN_EXCLUSIVE) != 0;
  out.nullable = (in.flags & TITAN_OPTION_NULLABLE) != 0;
  out.must_match = (in.flags & TITAN_OPTION_MUST_MATCH) != 0;
  out.hidden = (in.flags & TITAN_OPTION_HIDDEN) != 0;
  out.owner = owner;
  out.default_value = default_of(out, in.default_text);
  return out;
}

config::Preset to_preset(const titan_preset& in, const std::string& owner) {
  check_size("struct titan_preset", in.struct_size, kFirstPresetSize);
  config::Preset out;
  out.name = copy_text(in.name, "a preset's name", kMaxNameSize);
  out.summary = copy_text(in.summary, out.name, kMaxTextSize);
  out.base = copy_text(in.base, out.name, kMaxNameSize);
  check_count("settings", in.num_settings, in.settings);
  for (std::uint32_t i = 0; i < in.num_settings; ++i) {
    const titan_setting& setting = in.settings[i];
    out.settings.push_back(
        {copy_text(setting.name, out.name, kMaxNameSize), copy_text(setting.value, out.name, kMaxTextSize)});
  }
  out.owner = owner;
  return out;
}

/// Behind titan_describe_sink.ctx.
struct Receiver {
  Facts facts;
  std::exception_ptr failure;  // the first one; thrown again after describe() returned
};

/// The plugin sees a titan_error; the exception itself is kept, with its exit code and remedy.
template <class Body>
titan_error* receive(void* ctx, Body&& body) noexcept {
  auto& receiver = *static_cast<Receiver*>(ctx);
  return abi_guard([&] {
    try {
      body(receiver.facts);
    } catch (...) {
      if (!receiver.failure) receiver.failure = std::current_exception();
      throw;
    }
  });
}

titan_describe_sink make_sink(Receiver& receiver) {
  titan_describe_sink sink{};
  sink.struct_size = sizeof sink;
  sink.ctx = &receiver;
  sink.option = [](void* ctx, const titan_option* option) {
    return receive(ctx, [&](Facts& facts) { facts.options.push_back(to_option(*option, facts.name)); });
  };
  sink.preset = [](void* ctx, const titan_preset* preset) {
    return receive(ctx, [&](Facts& facts) { facts.presets.push_back(to_preset(*preset, facts.name)); });
  };
  sink.provides = [](void* ctx, titan_string id) {
    return receive(ctx,
                   [&](Facts& facts) { facts.provides.push_back(copy_text(id, "an interface id", kMaxNameSize)); });
  };
  sink.error_new = [](void*, std::int32_t code, titan_string text) { return new_abi_error(code, view(text)); };
  return sink;
}

/// Drops the "[name] " that plugin_call puts first: the whole message names the plugin anyway.
std::string without_tag(const std::string& message, const std::string& name) {
  const std::string tag = concat("[", name, "] ");
  return message.starts_with(tag) ? message.substr(tag.size()) : message;
}

void call_describe(const titan_plugin_info& info, const std::string& name, Receiver& receiver) {
  const HostTable host{HostServices{}};
  const titan_describe_sink sink = make_sink(receiver);
  try {
    plugin_call(host.get(), name.c_str(), "describe", [&] { return info.describe(&sink); });
  } catch (const Error& error) {
    if (receiver.failure) std::rethrow_exception(receiver.failure);
    throw LoadProblem(error.exit(), without_tag(error.what(), name), "correct the plugin");
  }
  if (receiver.failure) std::rethrow_exception(receiver.failure);
}

}  // namespace

Facts describe(const titan_plugin_info& info, Facts identity) {
  Receiver receiver{std::move(identity), nullptr};
  try {
    call_describe(info, receiver.facts.name, receiver);
  } catch (const Error& error) {
    throw LoadProblem(error.exit(), error.what(), "correct the plugin");
  }
  check_facts(receiver.facts);
  return std::move(receiver.facts);
}

}  // namespace titan::plugin
