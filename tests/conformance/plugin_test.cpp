// The contract of any plugin. TITAN_CONFORMANCE_PLUGIN names the file; other plugins, whose options its presets may
// set, are found as titan finds them (TITAN_PLUGIN_PATH). TITAN_CONFORMANCE_ENGINE may name the engine, for plugins
// that need tensors.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/abi_error.hpp"
#include "core/base/plugin_call.hpp"
#include "core/plugin/abi_text.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/instance.hpp"
#include "core/plugin/loader.hpp"
#include "core/plugin/registry.hpp"
#include "core/schedule/lint.hpp"
#include "core/schedule/read_table.hpp"
#include "tests/conformance/default_config.hpp"

namespace titan::plugin {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// One plugin, registered beside those it meets in a run.
struct Subject {
  Subject() {
    file = variable("TITAN_CONFORMANCE_PLUGIN");
    if (file.empty()) throw InputError("TITAN_CONFORMANCE_PLUGIN names no plugin");
    Search search = default_search();
    search.files = {file};
    const PluginRegistry plugins(search);
    config::add_core_options(registry);
    plugins.register_options(registry);
    registry.check();
    facts = plugins.plugins().at(0).facts;
    info = open_plugin(file, system_libraries()).info;
    const bool is_model = facts.provides_interface(TITAN_MODEL_V1);
    config.emplace(conformance::default_config(registry, is_model ? facts.name : ""));
    services.config = &*config;
  }

  std::filesystem::path file;
  config::Registry registry;
  Facts facts;
  const titan_plugin_info* info = nullptr;
  std::optional<config::Config> config;
  HostServices services;
};

class PluginTest : public ::testing::Test {
 protected:
  static Subject& subject() {
    static Subject instance;
    return instance;
  }
  static std::unique_ptr<Instance> make(std::uint32_t rank = 0) {
    HostServices services = subject().services;
    services.rank = rank;
    services.world_size = 2;
    return std::make_unique<Instance>(*subject().info, subject().facts.name, services);
  }
};

TEST_F(PluginTest, PassesTheCheck) {
  const CheckReport report = check(subject().file, default_search());
  EXPECT_TRUE(report.passed()) << check_text(report);
}

TEST_F(PluginTest, QueryAlwaysReturnsTheSame) {
  EXPECT_EQ(open_plugin(subject().file, system_libraries()).info, subject().info);
}

TEST_F(PluginTest, ProvidesWhatItDeclares) {
  const auto instance = make();
  for (const auto& id : subject().facts.provides) {
    const void* table = instance->get_interface(id);
    ASSERT_NE(table, nullptr) << id;
    EXPECT_EQ(instance->get_interface(id), table) << "an interface moved";
    EXPECT_GE(*static_cast<const std::uint32_t*>(table), 4U) << "struct_size is not set: " << id;
  }
}

TEST_F(PluginTest, UnknownInterfacesAreNull) {
  const auto instance = make();
  std::vector<std::string> unknown = {"", "titan.unknown/1", "titan.observer", "/", std::string(4096, 'x')};
  for (const auto& id : subject().facts.provides) {
    unknown.push_back(id + "0");
    unknown.push_back(id.substr(0, id.size() - 1));
    unknown.push_back(id + std::string(1, '\0'));
  }
  const std::set<std::string> known(subject().facts.provides.begin(), subject().facts.provides.end());
  for (const auto& id : unknown) {
    if (known.contains(id)) continue;
    EXPECT_EQ(instance->get_interface(id), nullptr) << id;
  }
}

TEST_F(PluginTest, SeveralInstancesLiveSideBySide) {
  auto first = make(0);
  auto second = make(1);
  first.reset();
  for (const auto& id : subject().facts.provides) EXPECT_NE(second->get_interface(id), nullptr);
  second.reset();
  EXPECT_NE(make(), nullptr) << "init after shutdown";
}

TEST_F(PluginTest, DescribesItselfWhileRunning) {
  const auto instance = make();
  EXPECT_EQ(open_and_describe(subject().file, system_libraries()).options.size(), subject().facts.options.size());
}

/// A host whose config_get fails from the n-th call on.
struct FailingHost {
  FailingHost(const titan_host& real, int allowed) : inner(&real), left(allowed) {
    table = real;
    table.impl = this;
    table.error_new = [](const titan_host*, std::int32_t code, titan_string text) {
      return new_abi_error(code, view(text));
    };
    table.get_interface = [](const titan_host* host, titan_string id) {
      const titan_host* real_host = self(host).inner;
      return real_host->get_interface(real_host, id);
    };
    table.config_get = [](const titan_host* host, titan_string name, titan_config_value* out) {
      FailingHost& failing = self(host);
      if (failing.left-- <= 0) return new_abi_error(TITAN_ERROR_IO, "injected failure");
      return failing.inner->config_get(failing.inner, name, out);
    };
  }
  static FailingHost& self(const titan_host* host) { return *static_cast<FailingHost*>(host->impl); }

  const titan_host* inner;
  int left;
  titan_host table{};
};

TEST_F(PluginTest, FailuresOfTheHostComeBackAsErrors) {
  const HostTable real(subject().services);
  constexpr int kEnough = 1000;
  for (int allowed = 0; allowed < kEnough; ++allowed) {
    FailingHost failing(*real.get(), allowed);
    void* ctx = nullptr;
    titan_error* error = subject().info->init(&failing.table, &ctx);
    if (error == nullptr) {
      subject().info->shutdown(ctx);
      EXPECT_GE(failing.left, 0) << "an error of the host was swallowed";
      return;
    }
    EXPECT_THAT(error->text, ::testing::HasSubstr("injected failure"));
    delete_abi_error(error);
  }
  FAIL() << "init never succeeds";
}

class ModelTest : public PluginTest {
 protected:
  void SetUp() override {
    if (!subject().facts.provides_interface(TITAN_MODEL_V1)) GTEST_SKIP() << "not a model";
    instance_ = make();
    model_ = instance_->interface<titan_model_v1>(TITAN_MODEL_V1);
  }

  template <class Call>
  void call(const char* name, Call&& run) {
    plugin_call(instance_->host(), instance_->name().c_str(), name, run);
  }

  std::unique_ptr<Instance> instance_;
  PluginInterface<titan_model_v1> model_;
};

TEST_F(ModelTest, StatesPlausibleFacts) {
  titan_model_facts facts{};
  facts.struct_size = sizeof facts;
  call("facts", [&] { return model_.table->facts(model_.ctx, 128, &facts); });
  EXPECT_GT(facts.num_layers, 0U);
  EXPECT_GT(facts.vocab_size, 0);
  EXPECT_GT(facts.dim, 0);
  EXPECT_GT(facts.num_parameters, 0);
  EXPECT_TRUE(std::isfinite(facts.num_flops_per_token) && facts.num_flops_per_token > 0);
}

TEST_F(ModelTest, FillsOnlyWhatTheReaderKnows) {
  titan_model_facts facts{};
  facts.struct_size = offsetof(titan_model_facts, num_parameters);
  facts.num_parameters = -7;
  facts.num_flops_per_token = -7;
  call("facts", [&] { return model_.table->facts(model_.ctx, 128, &facts); });
  EXPECT_GT(facts.dim, 0);
  EXPECT_EQ(facts.num_parameters, -7);
  EXPECT_EQ(facts.num_flops_per_token, -7);
  EXPECT_EQ(facts.struct_size, offsetof(titan_model_facts, num_parameters));
}

TEST_F(ModelTest, NamesEachHubTensorOnce) {
  std::set<std::string> ours;
  std::set<std::string> theirs;
  struct Sink {
    std::set<std::string>& ours;
    std::set<std::string>& theirs;
  } sink{ours, theirs};
  call("hf_names", [&] {
    return model_.table->hf_names(model_.ctx, &sink, [](void* ctx, const titan_hf_name* name) -> titan_error* {
      auto& to = *static_cast<Sink*>(ctx);
      EXPECT_TRUE(to.ours.emplace(view(name->name)).second) << view(name->name);
      EXPECT_TRUE(to.theirs.emplace(view(name->hf_name)).second) << view(name->hf_name);
      return nullptr;
    });
  });
}

TEST_F(ModelTest, ReturnsTheSinksError) {
  titan_error* error = model_.table->hf_names(
      model_.ctx, nullptr, [](void*, const titan_hf_name*) { return new_abi_error(TITAN_ERROR_IO, "full"); });
  if (error == nullptr) GTEST_SKIP() << "no hub names";
  EXPECT_EQ(error->code, TITAN_ERROR_IO);
  EXPECT_THAT(error->text, ::testing::HasSubstr("full"));
  delete_abi_error(error);
}

TEST_F(ModelTest, RefusesGarbageAsHubConfiguration) {
  for (const std::string text : {"", "{", "[]", "{\"architectures\": [\"Unheard\"]}", "\xff\xfe"}) {
    titan_error* error = model_.table->hf_config(
        model_.ctx, borrow(text), nullptr, [](void*, titan_string, titan_string) -> titan_error* { return nullptr; });
    ASSERT_NE(error, nullptr) << text;
    EXPECT_FALSE(error->text.empty());
    delete_abi_error(error);
  }
}

class ObserverTest : public PluginTest {
 protected:
  void SetUp() override {
    if (!subject().facts.provides_interface(TITAN_OBSERVER_V1)) GTEST_SKIP() << "not an observer";
  }
};

TEST_F(ObserverTest, AsksForEventsItHasCallbacksFor) {
  const auto instance = make();
  const auto* table = instance->interface<titan_observer_v1>(TITAN_OBSERVER_V1).table;
  ASSERT_GE(table->struct_size, offsetof(titan_observer_v1, run_end) + sizeof table->run_end);
  EXPECT_TRUE((table->events & TITAN_EVENT_RUN_BEGIN) == 0 || table->run_begin != nullptr);
  EXPECT_TRUE((table->events & TITAN_EVENT_STEP_END) == 0 || table->step_end != nullptr);
  EXPECT_TRUE((table->events & TITAN_EVENT_VALIDATION) == 0 || table->validation != nullptr);
  EXPECT_TRUE((table->events & TITAN_EVENT_RUN_END) == 0 || table->run_end != nullptr);
  if ((table->events & TITAN_EVENT_COLLECTIVE) == 0) return;
  ASSERT_TRUE(TITAN_HAS(table, collective)) << "built with an ABI that has no such event";
  EXPECT_NE(table->collective, nullptr);
}

class StrategyTest : public PluginTest {
 protected:
  void SetUp() override {
    if (!subject().facts.provides_interface(TITAN_STRATEGY_V1)) GTEST_SKIP() << "not a strategy";
    instance_ = make();
    strategy_ = instance_->interface<titan_strategy_v1>(TITAN_STRATEGY_V1);
  }

  std::unique_ptr<Instance> instance_;
  PluginInterface<titan_strategy_v1> strategy_;
};

TEST_F(StrategyTest, HasEveryCallback) {
  const titan_strategy_v1* table = strategy_.table;
  ASSERT_GE(table->struct_size, offsetof(titan_strategy_v1, updated) + sizeof table->updated);
  EXPECT_NE(table->validate, nullptr);
  EXPECT_NE(table->apply, nullptr);
  EXPECT_NE(table->materialised, nullptr);
  EXPECT_NE(table->micro_batch_begin, nullptr);
  EXPECT_NE(table->micro_batch_end, nullptr);
  EXPECT_NE(table->updated, nullptr);
}

TEST_F(StrategyTest, OneRankIsALayout) {
  titan_mesh_facts mesh{};
  mesh.struct_size = sizeof mesh;
  mesh.world_size = mesh.pp = mesh.dp_replicate = mesh.dp_shard = mesh.cp = mesh.tp = mesh.ep = 1;
  titan_model_facts model{};
  model.struct_size = sizeof model;
  model.num_layers = 2;
  model.dim = 64;
  model.vocab_size = 512;
  model.num_parameters = 100'000;
  plugin_call(instance_->host(), instance_->name().c_str(), "validate",
              [&] { return strategy_.table->validate(strategy_.ctx, &mesh, &model); });
}

/// What a plugin plans for a small pipeline is a table that can run.
TEST_F(PluginTest, SchedulesAreSound) {
  if (!subject().facts.provides_interface(TITAN_SCHEDULE_V1)) GTEST_SKIP() << "no schedule";
  const std::unique_ptr<Instance> instance = make();
  const auto plugin = instance->interface<titan_schedule_v1>(TITAN_SCHEDULE_V1);
  for (const bool training : {true, false}) {
    const schedule::Table table = schedule::read_table(
        instance->host(), plugin, {2, {"tok_embeddings", "layers.0", "layers.1", "norm", "output"}, 4, training});
    EXPECT_FALSE(table.name.empty());
    EXPECT_THAT(schedule::lint(table), ::testing::IsEmpty());
  }
}

}  // namespace
}  // namespace titan::plugin
