#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "titan/sdk/error.hpp"

namespace titan::sdk {

namespace config_detail {
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
}  // namespace config_detail

/// Typed reads of the resolved configuration. Cheap to copy; valid as long as the host table; any thread.
class Config {
 public:
  explicit Config(const titan_host* host) noexcept : host_(host) {}

  /// Reads one option as bool, std::int64_t, double, std::string, std::vector<std::string>, or a std::optional of one
  /// of these for nullable options. InternalError for an unknown option or another type.
  template <class T>
  T get(std::string_view name) const {
    titan_config_value value{};
    check(host_, host_->config_get(host_, borrow(name), &value));
    if constexpr (config_detail::IsOptional<T>::value) {
      if (value.kind == TITAN_CONFIG_NONE) return std::nullopt;
      return convert<typename T::value_type>(name, value);
    } else {
      return convert<T>(name, value);
    }
  }

  bool boolean(std::string_view name) const { return get<bool>(name); }
  std::int64_t integer(std::string_view name) const { return get<std::int64_t>(name); }
  double floating(std::string_view name) const { return get<double>(name); }
  /// Text of a string or path option; JSON of a tables option.
  std::string string(std::string_view name) const { return get<std::string>(name); }
  std::vector<std::string> strings(std::string_view name) const { return get<std::vector<std::string>>(name); }

 private:
  template <class T>
  static T convert(std::string_view name, const titan_config_value& value) {
    if constexpr (std::is_same_v<T, bool>) {
      expect(name, value, TITAN_CONFIG_BOOL);
      return value.boolean != 0;
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      expect(name, value, TITAN_CONFIG_INT);
      return value.integer;
    } else if constexpr (std::is_same_v<T, double>) {
      expect(name, value, TITAN_CONFIG_FLOAT);
      return value.floating;
    } else if constexpr (std::is_same_v<T, std::string>) {
      expect(name, value, TITAN_CONFIG_STRING);
      return std::string(view(value.string));
    } else {
      static_assert(std::is_same_v<T, std::vector<std::string>>, "no option has this type");
      expect(name, value, TITAN_CONFIG_STRINGS);
      std::vector<std::string> texts;
      for (std::uint64_t i = 0; i < value.num_strings; ++i) texts.emplace_back(view(value.strings[i]));
      return texts;
    }
  }

  static void expect(std::string_view name, const titan_config_value& value, std::int32_t kind) {
    if (value.kind == kind) return;
    throw InternalError("[config] option ", name, " was read as another type than it has: kind ", value.kind,
                        ", read as ", kind);
  }

  const titan_host* host_;
};

}  // namespace titan::sdk
