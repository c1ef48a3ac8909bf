#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin/abi_text.hpp"
#include "core/plugin/library.hpp"
#include "core/plugin/load_problem.hpp"
#include "tests/support/temporary_folder.hpp"
#include "titan/abi/plugin.h"

namespace titan::plugin::testing {

/// Plugins without files: what open() returns is chosen by file name.
class FakeLibraries : public LibrarySource {
 public:
  void add(const std::string& name, titan_plugin_query_fn query) { queries_[name] = query; }
  titan_plugin_query_fn open(const std::filesystem::path& file) override {
    opened.push_back(file.filename().string());
    const auto found = queries_.find(file.filename().string());
    if (found == queries_.end()) throw LoadProblem(Exit::abi, "nobody knows this file", "tell the test");
    return found->second;
  }

  std::vector<std::string> opened;

 private:
  std::map<std::string, titan_plugin_query_fn> queries_;
};

/// A plugin in this program. `Spec` has kName and `static titan_error* describe(const titan_describe_sink*)`.
template <class Spec>
struct FakePlugin {
  static const titan_plugin_info* query() {
    static const std::string id = concat("org.fake.", Spec::kName);
    static const titan_plugin_info info = make_info(id);
    return &info;
  }

  /// `id` outlives the info block.
  static titan_plugin_info make_info(std::string_view id) {
    titan_plugin_info info{};
    info.struct_size = sizeof info;
    info.magic = TITAN_PLUGIN_MAGIC;
    info.abi_major = TITAN_ABI_MAJOR;
    info.abi_minor = TITAN_ABI_MINOR;
    info.abi_minor_needed = 1;
    info.tier = TITAN_TIER_STABLE;
    info.cxx11_abi = -1;
    info.cuda_major = -1;
    info.id = borrow(id);
    info.name = borrow(Spec::kName);
    info.version = borrow("1.2.3");
    info.license = borrow("MIT");
    info.describe = &Spec::describe;
    info.init = [](const titan_host*, void**) -> titan_error* { return nullptr; };
    info.get_interface = [](void*, titan_string) -> const void* { return nullptr; };
    info.shutdown = [](void*) {};
    return info;
  }
};

/// Describes nothing.
struct Silent {
  static titan_error* describe(const titan_describe_sink*) { return nullptr; }
};

inline titan_option make_option(std::int32_t type, std::string_view name, titan_string default_text) {
  titan_option option{};
  option.struct_size = sizeof option;
  option.type = type;
  option.name = borrow(name);
  option.default_text = default_text;
  option.help = borrow("Helps.");
  return option;
}

inline titan_preset make_preset(std::string_view name, titan_string base) {
  titan_preset preset{};
  preset.struct_size = sizeof preset;
  preset.name = borrow(name);
  preset.summary = borrow("A preset.");
  preset.base = base;
  return preset;
}

constexpr titan_string kAbsent{nullptr, 0};

using test::TemporaryFolder;

}  // namespace titan::plugin::testing
