#include "core/plugin/library.hpp"

// Boost 1.74 does not include what it uses.
#include <vector>

#define BOOST_DLL_USE_STD_FS
#include <algorithm>
#include <boost/dll/shared_library.hpp>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/breadcrumb.hpp"
#include "core/plugin/dl_message.hpp"
#include "core/plugin/elf_file.hpp"
#include "core/plugin/load_problem.hpp"
#include "core/plugin/version_check.hpp"

namespace titan::plugin {
namespace {

using boost::dll::shared_library;
namespace load_mode = boost::dll::load_mode;

void check_file(const ElfFile& elf) {
  if (!elf.note) {
    throw LoadProblem(Exit::abi, "it is not a titan plugin: it has no titan ABI note",
                      "build it with titan_add_plugin() and TITAN_PLUGIN_NOTE");
  }
  check_abi({elf.note->abi_major, elf.note->abi_minor, elf.note->abi_minor_needed, elf.note->tier});
  if (std::find(elf.exported.begin(), elf.exported.end(), TITAN_PLUGIN_QUERY_SYMBOL) == elf.exported.end()) {
    throw LoadProblem(Exit::abi, "it does not export " TITAN_PLUGIN_QUERY_SYMBOL,
                      "define that function with default visibility, or build the plugin with titan_add_plugin()");
  }
}

/// Boost wraps the system's message in its own.
std::string system_message(const std::string& what) {
  constexpr std::string_view kBefore = "(dlerror system message: ";
  const auto begin = what.find(kBefore);
  const auto end = what.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end < begin + kBefore.size()) return what;
  return what.substr(begin + kBefore.size(), end - begin - kBefore.size());
}

class SystemLibraries : public LibrarySource {
 public:
  titan_plugin_query_fn open(const std::filesystem::path& file) override {
    const ElfFile elf = read_elf_file(file);
    check_file(elf);
    const std::filesystem::path absolute = std::filesystem::absolute(file);
    const std::string name = file.stem().string();
    const BreadcrumbScope scope(name.c_str(), "library constructors");
    const std::lock_guard lock(mutex_);
    try {
      libraries_.push_back(std::make_unique<shared_library>(absolute, load_mode::rtld_now | load_mode::rtld_local));
      return libraries_.back()->get<const titan_plugin_info*()>(TITAN_PLUGIN_QUERY_SYMBOL);
    } catch (const std::exception& error) {
      throw explain_dl_message(system_message(error.what()), elf.needed);
    }
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<shared_library>> libraries_;
};

}  // namespace

LibrarySource& system_libraries() {
  // Leaked on purpose: a library must stay while anything of it is alive, and closing one that owns autograd nodes
  // crashes, also at exit.
  static auto* const instance = new SystemLibraries;
  return *instance;
}

}  // namespace titan::plugin
