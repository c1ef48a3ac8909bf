#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/sdk/fake_host.hpp"
#include "tests/unit/sdk/fake_tree.hpp"
#include "titan/abi/all.h"

// The built plugin itself, as a stranger sees it. LLAMA3_PLUGIN is its file.
namespace titan::llama3 {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> output_lines(const std::string& command) {
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::vector<std::string> lines;
  std::array<char, 4096> buffer;
  while (pipe != nullptr && fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr)
    lines.emplace_back(buffer.data());
  return lines;
}

titan_string text(const char* literal) { return {literal, std::char_traits<char>::length(literal)}; }

const titan_plugin_info& query() {
  // Never closed, as the host does.
  static void* library = dlopen(LLAMA3_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  return *reinterpret_cast<titan_plugin_query_fn>(dlsym(library, TITAN_PLUGIN_QUERY_SYMBOL))();
}

TEST(Llama3Plugin, LinksNeitherLibtorchNorTheHost) {
  std::vector<std::string> needed;
  for (const std::string& line : output_lines("readelf --dynamic --wide " LLAMA3_PLUGIN))
    if (line.find("(NEEDED)") != std::string::npos) needed.push_back(line.substr(line.find('[')));
  ASSERT_FALSE(needed.empty());
  EXPECT_THAT(needed,
              ::testing::Each(AnyOf(StartsWith("[libstdc++.so"), StartsWith("[libgcc_s.so"), StartsWith("[libm.so"),
                                    StartsWith("[libc.so"), StartsWith("[ld-linux"), StartsWith("[libasan.so"),
                                    StartsWith("[libubsan.so"), StartsWith("[libtsan.so"))));
}

TEST(Llama3Plugin, ExportsOneSymbolAndUsesNoneOfLibtorch) {
  std::vector<std::string> exported;
  for (const std::string& line : output_lines("readelf --dyn-syms --wide " LLAMA3_PLUGIN)) {
    std::istringstream columns(line);
    std::string number, value, size, type, binding, visibility, section, name;
    if (!(columns >> number >> value >> size >> type >> binding >> visibility >> section >> name)) continue;
    if (section == "Ndx") continue;
    if (section == "UND") {
      for (const char* prefix : {"_ZN2at", "_ZNK2at", "_ZN3c10", "_ZNK3c10", "_ZN5torch", "_ZNK5torch"})
        EXPECT_THAT(name, Not(StartsWith(prefix)));
    } else {
      exported.push_back(name);
    }
  }
  EXPECT_THAT(exported, ElementsAre(StartsWith(TITAN_PLUGIN_QUERY_SYMBOL)));
}

TEST(Llama3Plugin, SaysItIsStableTier) {
  EXPECT_EQ(query().magic, TITAN_PLUGIN_MAGIC);
  EXPECT_EQ(query().tier, TITAN_TIER_STABLE);
  EXPECT_EQ(std::string(query().name.data, query().name.size), "llama3");
}

TEST(Llama3Plugin, DescribesTheSameTwice) {
  test::FakeHost first, second;
  first.declare(query());
  second.declare(query());
  EXPECT_THAT(first.provides(), ElementsAre(TITAN_MODEL_V1));
  ASSERT_EQ(first.options().size(), second.options().size());
  EXPECT_EQ(first.presets().size(), second.presets().size());
}

TEST(Llama3Plugin, BuildsWhatTheConfigurationSays) {
  test::FakeHost host;
  test::FakeTree tree(host);
  host.declare(query());
  host.use_preset("llama3_parity");
  void* ctx = nullptr;
  ASSERT_EQ(host.take(query().init(host.table(), &ctx)), "");
  const auto* model = static_cast<const titan_model_v1*>(query().get_interface(ctx, text(TITAN_MODEL_V1)));
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(host.take(model->build(ctx, tree.handle())), "");
  EXPECT_EQ(tree.chain().size(), 3u + 8);
  host.set("model.n_heads", "7");
  EXPECT_THAT(host.take(model->build(ctx, tree.handle())), HasSubstr("78: model.dim must be divisible"));
  query().shutdown(ctx);
  EXPECT_EQ(host.live_errors(), 0);
}

TEST(Llama3Plugin, TranslatesAHubConfigBeforeItIsConfigured) {
  test::FakeHost host;
  void* ctx = nullptr;
  ASSERT_EQ(host.take(query().init(host.table(), &ctx)), "");
  const auto* model = static_cast<const titan_model_v1*>(query().get_interface(ctx, text(TITAN_MODEL_V1)));
  const auto emit = [](void*, titan_string, titan_string) -> titan_error* { return nullptr; };
  EXPECT_THAT(host.take(model->hf_config(ctx, text("{}"), nullptr, emit)), HasSubstr("lacks a field: model_type"));
  query().shutdown(ctx);
}

}  // namespace
}  // namespace titan::llama3
