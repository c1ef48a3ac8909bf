#include "core/app/required_interface.hpp"

#include <gtest/gtest.h>

#include "titan/abi/observer.h"

namespace titan::app {
namespace {

titan_observer_v1 whole_table() {
  titan_observer_v1 table{};
  table.struct_size = sizeof table;
  return table;
}

titan_strategy_v1 strategy_table(std::size_t size) {
  titan_strategy_v1 table{};
  table.struct_size = static_cast<std::uint32_t>(size);
  return table;
}

/// A plugin whose instances are the tables they give.
const titan_plugin_info& plugin_info() {
  static const titan_plugin_info info = [] {
    titan_plugin_info made{};
    made.struct_size = sizeof made;
    made.init = [](const titan_host*, void**) -> titan_error* { return nullptr; };
    made.get_interface = [](void*, titan_string id) -> const void* {
      static const titan_observer_v1 whole = whole_table();
      static const titan_observer_v1 cut{};
      const std::string_view name(id.data, id.size);
      static const titan_strategy_v1 first = strategy_table(offsetof(titan_strategy_v1, backward_begin));
      static const titan_strategy_v1 less = strategy_table(offsetof(titan_strategy_v1, updated));
      if (name == "strategy/1") return &first;
      if (name == "less/1") return &less;
      return name == "whole/1" ? &whole : name == "short/1" ? &cut : nullptr;
    };
    made.shutdown = [](void*) {};
    return made;
  }();
  return info;
}

TEST(RequiredInterface, IsGivenWithItsPlugin) {
  const plugin::Instance instance(plugin_info(), "watch", {});
  const auto found = required_interface<titan_observer_v1>(instance, "whole/1");
  EXPECT_EQ(found.plugin, "watch");
  EXPECT_EQ(found.table->struct_size, sizeof(titan_observer_v1));
}

TEST(RequiredInterface, OneThatIsMissingIsAPluginError) {
  const plugin::Instance instance(plugin_info(), "watch", {});
  EXPECT_THROW(required_interface<titan_observer_v1>(instance, "absent/1"), PluginError);
}

TEST(RequiredInterface, OneOfAnEarlierReleaseIsGiven) {
  const plugin::Instance instance(plugin_info(), "watch", {});
  const auto found = required_interface<titan_strategy_v1>(instance, "strategy/1");
  EXPECT_LT(found.table->struct_size, sizeof(titan_strategy_v1));
  EXPECT_THROW(required_interface<titan_strategy_v1>(instance, "less/1"), AbiError);
}

TEST(RequiredInterface, OneThatIsTooShortIsAnAbiError) {
  const plugin::Instance instance(plugin_info(), "watch", {});
  EXPECT_THROW(required_interface<titan_observer_v1>(instance, "short/1"), AbiError);
}

}  // namespace
}  // namespace titan::app
