#include "core/plugin/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/plugin/fake_plugin.hpp"

namespace titan::plugin {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

titan_error* emit_model(const titan_describe_sink* sink, std::string_view preset) {
  if (titan_error* error = sink->provides(sink->ctx, borrow("titan.model/1"))) return error;
  const titan_option dim = testing::make_option(TITAN_OPTION_INT, "model.dim", borrow("64"));
  if (titan_error* error = sink->option(sink->ctx, &dim)) return error;
  const titan_preset tiny = testing::make_preset(preset, testing::kAbsent);
  return sink->preset(sink->ctx, &tiny);
}

struct Llama {
  static constexpr std::string_view kName = "llama";
  static titan_error* describe(const titan_describe_sink* sink) { return emit_model(sink, "llama_tiny"); }
};
struct Mamba {
  static constexpr std::string_view kName = "mamba";
  static titan_error* describe(const titan_describe_sink* sink) { return emit_model(sink, "mamba_tiny"); }
};
struct Watcher {
  static constexpr std::string_view kName = "watcher";
  static titan_error* describe(const titan_describe_sink* sink) {
    const titan_option option = testing::make_option(TITAN_OPTION_INT, "watcher.every", borrow("10"));
    if (titan_error* error = sink->option(sink->ctx, &option)) return error;
    return sink->provides(sink->ctx, borrow("titan.observer/1"));
  }
};
struct Copycat {
  static constexpr std::string_view kName = "copycat";
  static titan_error* describe(const titan_describe_sink* sink) { return Watcher::describe(sink); }
};

class PluginRegistryTest : public ::testing::Test {
 protected:
  PluginRegistryTest() {
    libraries_.add("llama.so", &testing::FakePlugin<Llama>::query);
    libraries_.add("mamba.so", &testing::FakePlugin<Mamba>::query);
    libraries_.add("watcher.so", &testing::FakePlugin<Watcher>::query);
    libraries_.add("copycat.so", &testing::FakePlugin<Copycat>::query);
  }

  PluginRegistry registry_of(const std::vector<std::string>& names) {
    Search search;
    for (const auto& name : names) search.files.push_back(folder_.write(name + ".so", "bytes"));
    return PluginRegistry(search, libraries_);
  }

  static std::string refusal(const PluginRegistry& registry, std::string_view model) {
    try {
      registry.find_model(model);
      return {};
    } catch (const Error& error) {
      return concat(static_cast<int>(error.exit()), ": ", error.what());
    }
  }

  const testing::TemporaryFolder folder_;
  testing::FakeLibraries libraries_;
};

TEST_F(PluginRegistryTest, FindsModelsByName) {
  const PluginRegistry registry = registry_of({"llama", "watcher", "mamba"});
  EXPECT_EQ(registry.find_model("mamba").facts.id, "org.fake.mamba");
  EXPECT_EQ(registry.providing("titan.model/1").size(), 2U);
  EXPECT_EQ(registry.providing("titan.observer/1").at(0)->facts.name, "watcher");
  EXPECT_TRUE(registry.providing("titan.guard/1").empty());
}

TEST_F(PluginRegistryTest, SuggestsAndListsModels) {
  const PluginRegistry registry = registry_of({"llama", "watcher", "mamba"});
  EXPECT_THAT(refusal(registry, "lama"),
              AllOf(HasSubstr("66: "), HasSubstr("lama (did you mean llama?)"), HasSubstr("available: llama, mamba")));
  EXPECT_THAT(refusal(registry, "watcher"), HasSubstr("no plugin provides a model of that name: watcher; available"));
  EXPECT_THAT(refusal(registry_of({}), "llama"), HasSubstr("available: none"));
}

TEST_F(PluginRegistryTest, DeclaresEveryPluginsOptions) {
  config::Registry options;
  registry_of({"llama", "watcher", "mamba"}).register_options(options);
  EXPECT_NE(options.find("watcher.every"), nullptr);
  EXPECT_EQ(options.find("model.dim", "mamba")->owner, "mamba");
  EXPECT_EQ(options.find("model.dim", "llama")->owner, "llama");
  EXPECT_NE(options.find_preset("llama", "llama_tiny"), nullptr);
  EXPECT_NO_THROW(options.check());
}

TEST_F(PluginRegistryTest, NamesBothOwnersOfOneOption) {
  config::Registry options;
  try {
    registry_of({"watcher", "copycat"}).register_options(options);
    FAIL();
  } catch (const PluginError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("watcher.every"), HasSubstr("copycat")));
  }
}

TEST_F(PluginRegistryTest, LoadsInstances) {
  const PluginRegistry registry = registry_of({"llama"});
  const auto instance = registry.load(registry.find_model("llama"), HostServices{});
  EXPECT_EQ(instance->name(), "llama");
  EXPECT_EQ(instance->get_interface("titan.model/2"), nullptr);
}

TEST_F(PluginRegistryTest, RefusesALibraryThatIsNotTheOneDescribed) {
  const PluginRegistry registry = registry_of({"llama"});
  libraries_.add("llama.so", &testing::FakePlugin<Mamba>::query);
  try {
    registry.load(registry.find_model("llama"), HostServices{});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::abi);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("cannot load llama from "), HasSubstr("the library is org.fake.mamba")));
  }
}

TEST_F(PluginRegistryTest, WarnsOnceOfABrokenPlugin) {
  folder_.write("broken.titan.json", "{");
  ::testing::internal::CaptureStderr();
  const PluginRegistry registry(Search{{}, {folder_.path()}, "", false}, libraries_);
  const std::string warnings = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(warnings, HasSubstr("WARNING - [plugin] cannot load broken"));
  EXPECT_EQ(std::count(warnings.begin(), warnings.end(), '\n'), 1);
  EXPECT_EQ(registry.broken().size(), 1U);
}

}  // namespace
}  // namespace titan::plugin
