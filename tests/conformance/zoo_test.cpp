// Bad plugins, each in a process of its own: one clear message, the right exit code, never a signal.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/files.hpp"
#include "core/base/text.hpp"
#include "core/plugin/registry.hpp"
#include "tests/conformance/default_config.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ExitedWithCode;
using testing::HasSubstr;
using titan::concat;

const fs::path kZoo = TITAN_ZOO_FOLDER;
const std::string kHostAbi = concat(TITAN_ABI_MAJOR, ".", TITAN_ABI_MINOR);

/// What a run does with plugins, up to the first step. Returns the exit code, and prints the message, as main does.
int use_plugins(const titan::plugin::Search& search) {
  try {
    const titan::plugin::PluginRegistry plugins(search);
    titan::config::Registry registry;
    plugins.register_options(registry);
    registry.check();
    const auto config = titan::conformance::default_config(registry, search.module);
    for (const auto& plugin : plugins.plugins()) {
      plugins.load(plugin, titan::plugin::HostServices{&config, nullptr, 0, 1})->get_interface("titan.observer/1");
    }
    return 0;
  } catch (const titan::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit());
  }
}

void expect_outcome(const titan::plugin::Search& search, int code,
                    const testing::Matcher<const std::string&>& message) {
  EXPECT_EXIT(std::_Exit(use_plugins(search)), ExitedWithCode(code), message);
}

/// Names FILE with --plugin: the message names plugin and file, and says `reason` and `remedy`.
void expect_refusal(const fs::path& file, int code, const std::string& reason, const std::string& remedy) {
  const std::string head = concat("[plugin] cannot load ", file.stem().string(), " from ", file.string(), ": ");
  expect_outcome({{file}, {}, "", false}, code, AllOf(HasSubstr(head), HasSubstr(reason), HasSubstr(remedy)));
}

/// The same for a plugin of the zoo.
void expect_zoo_refusal(const std::string& name, int code, const std::string& reason, const std::string& remedy) {
  expect_refusal(kZoo / (name + ".so"), code, reason, remedy);
}

using Scratch = titan::test::TemporaryFolder;

std::string good_bytes() { return titan::read_file(kZoo / "good.so", std::uint64_t{1} << 24U); }

TEST(Zoo, AGoodPluginPasses) { expect_outcome({{kZoo / "good.so"}, {}, "", false}, 0, ""); }

TEST(Zoo, AnInfoBlockOfANewerReleasePasses) { expect_outcome({{kZoo / "size_huge.so"}, {}, "", false}, 0, ""); }

TEST(Zoo, NoFile) {
  const Scratch scratch;
  expect_refusal(scratch.path() / "gone.so", 66, "there is no such file", "check the path");
  expect_refusal(scratch.path(), 66, "it is a folder", "TITAN_PLUGIN_PATH");
}

TEST(Zoo, AFileThatCannotBeRead) {
  const Scratch scratch;
  const auto file = scratch.write("secret.so", good_bytes());
  fs::permissions(file, fs::perms::none);
  const auto as_nobody = [&] {
    // Root reads every file.
    if (::geteuid() == 0 && ::setuid(65534) != 0) return -1;
    return use_plugins({{file}, {}, "", false});
  };
  EXPECT_EXIT(std::_Exit(as_nobody()), ExitedWithCode(66),
              HasSubstr("the file cannot be read: Permission denied; check its permissions"));
}

TEST(Zoo, NotALibrary) {
  const Scratch scratch;
  expect_refusal(scratch.write("text.so", "#!/bin/sh\necho hello\n"), 76, "it is not an ELF shared library",
                 "name a plugin library");
  expect_refusal(scratch.write("empty.so", ""), 76, "the file is empty", "name a plugin library");
}

TEST(Zoo, Truncated) {
  const Scratch scratch;
  const std::string bytes = good_bytes();
  for (const std::size_t size : {std::size_t{40}, std::size_t{3000}, std::size_t{12000}, bytes.size() - 1}) {
    expect_refusal(scratch.write("cut.so", bytes.substr(0, size)), 76, "the file is truncated",
                   "copy the plugin again");
  }
}

TEST(Zoo, ForeignMachine) {
  const Scratch scratch;
  std::string bytes = good_bytes();
  bytes[18] = '\x16';  // e_machine: S/390
  bytes[19] = '\0';
  expect_refusal(scratch.write("foreign.so", bytes), 76, "it is built for ELF machine 22, this titan runs on ",
                 "built for this machine");
  std::string narrow = good_bytes();
  narrow[4] = '\x01';  // 32-bit
  expect_refusal(scratch.write("narrow.so", narrow), 76, "32-bit", "built for this machine");
}

TEST(Zoo, NoPlugin) {
  expect_zoo_refusal("no_note", 76, "it is not a titan plugin", "TITAN_PLUGIN_NOTE");
  expect_zoo_refusal("no_symbol", 76, "it does not export titan_plugin_query_v1", "default visibility");
}

TEST(Zoo, OtherVersions) {
  expect_zoo_refusal("major_99", 76,
                     concat("it was built with ABI 99.", TITAN_ABI_MINOR, ", this titan has ", kHostAbi),
                     "rebuild the plugin");
  expect_zoo_refusal("minor_newer", 76, concat("it needs ABI ", TITAN_ABI_MAJOR, ".999, this titan has ", kHostAbi),
                     "use a newer titan");
  expect_zoo_refusal("untrue_note", 76, "it was built with ABI 99.", "rebuild the plugin");
  expect_zoo_refusal("unknown_tier", 76, "its tier is unknown: 3", "TITAN_TIER_STABLE");
}

TEST(Zoo, BadInfoBlocks) {
  expect_zoo_refusal("wrong_magic", 76, "wrong magic number: 7", "TITAN_PLUGIN_MAGIC");
  expect_zoo_refusal("null_info", 76, "titan_plugin_query_v1 returned NULL", "static info block");
  expect_zoo_refusal("size_small", 76, concat("64 bytes, at least ", sizeof(titan_plugin_info), " are needed"),
                     "sizeof(titan_plugin_info)");
}

TEST(Zoo, OtherTorch) {
#ifdef TITAN_ZOO_WITH_TORCH
  expect_zoo_refusal("other_torch", 76, "torch_version differs: the plugin has 1.0.0",
                     "rebuild the plugin against libtorch");
  expect_zoo_refusal("other_cuda", 76, "cuda_major differs: the plugin has 99", "rebuild the plugin against libtorch");
#else
  expect_zoo_refusal("other_torch", 76, "this titan was built without one", "use a titan with libtorch");
#endif
}

TEST(Zoo, SomethingIsMissing) {
  expect_zoo_refusal("missing_symbol", 76, "missing symbol at::gone(int)", "rebuild it against this titan's");
  expect_zoo_refusal("missing_library", 76, "it needs the library libzoo_gone.so, which cannot be found",
                     "install that library");
}

TEST(Zoo, Exceptions) {
  constexpr const char* kCrossed = ": a C++ exception crossed the plugin boundary: boom";
  expect_zoo_refusal("throws_from_query", 70, concat("titan_plugin_query_v1", kCrossed), "throw nothing");
  expect_zoo_refusal("throws_from_describe", 70, concat("describe", kCrossed), "correct the plugin");
  const auto named = [](const char* name) { return titan::plugin::Search{{kZoo / name}, {}, "", false}; };
  expect_outcome(named("throws_from_init.so"), 70, HasSubstr(concat("[throws] init", kCrossed)));
  expect_outcome(named("throws_from_get_interface.so"), 70, HasSubstr(concat("[throws] get_interface", kCrossed)));
  expect_outcome(named("throws_from_shutdown.so"), 0, HasSubstr(concat("[throws] shutdown", kCrossed)));
}

TEST(Zoo, InitThatFails) {
  expect_outcome({{kZoo / "init_fails.so"}, {}, "", false}, 78, HasSubstr("[zoo] init: the moon is not full"));
}

TEST(Zoo, BadDescriptions) {
  expect_zoo_refusal("duplicate_option", 70, "it declares an option twice: zoo.count", "correct the plugin");
  expect_zoo_refusal("cyclic_preset", 70, "preset chicken is based on itself", "correct the plugin");
}

/// A manifest for a library, as the build writes it.
std::string manifest_of(const fs::path& library) {
  const fs::path manifest = library.parent_path() / "out.json";
  const std::string command = concat(TITAN_MANIFEST_TOOL " '", library.string(), "' '", manifest.string(), "'");
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return titan::read_file(manifest, std::uint64_t{1} << 20U);
}

TEST(Zoo, TwoPluginsOfOneId) {
  const Scratch scratch;
  const auto first = scratch.write("one/good.so", good_bytes());
  const auto second = scratch.write("two/good.so", good_bytes());
  scratch.write("one/good.titan.json", manifest_of(first));
  scratch.write("two/good.titan.json", manifest_of(second));
  const std::vector<fs::path> folders = {scratch.path() / "one", scratch.path() / "two"};
  expect_outcome({{}, folders, "", false}, 78,
                 AllOf(HasSubstr("two plugins have the same id: org.zoo.zoo"), HasSubstr(first.string()),
                       HasSubstr(second.string()), HasSubstr("--plugin FILE")));
  expect_outcome({{second}, folders, "", false}, 0, "");
}

TEST(Zoo, BrokenManifests) {
  const Scratch scratch;
  const auto library = scratch.write("good.so", good_bytes());
  const std::string whole = manifest_of(library);
  const std::string texts[] = {"", "{", "[]", "null", whole.substr(0, whole.size() / 2), std::string(100000, '[')};
  for (const std::string& text : texts) {
    scratch.write("good.titan.json", text);
    const titan::plugin::Search undemanded{{}, {scratch.path()}, "", false};
    expect_outcome(undemanded, 0, HasSubstr("WARNING - [plugin] cannot load good from "));
    const titan::plugin::Search demanded{{}, {scratch.path()}, "good", false};
    expect_outcome(demanded, 76, AllOf(HasSubstr("its manifest is broken"), HasSubstr("build the plugin again")));
    const titan::plugin::Search named{{library}, {scratch.path()}, "", false};
    expect_outcome(named, 0, HasSubstr("manifest ignored, the library is opened instead"));
  }
}

TEST(Zoo, ALibraryThatChangedAfterItsManifest) {
  const Scratch scratch;
  scratch.write("good.titan.json", manifest_of(scratch.write("good.so", good_bytes())));
  scratch.write("good.so", titan::read_file(kZoo / "fickle.so", std::uint64_t{1} << 24U));
  expect_outcome({{}, {scratch.path()}, "", false}, 0, HasSubstr("changed after its manifest was written"));
}

}  // namespace
