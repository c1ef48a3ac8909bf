#include "core/plugin/discovery.hpp"

#include <stdlib.h>  // secure_getenv

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/log.hpp"
#include "core/plugin/byte_source.hpp"
#include "core/plugin/load_problem.hpp"
#include "core/plugin/loader.hpp"
#include "core/plugin/manifest.hpp"
#include "core/plugin/version_check.hpp"

namespace titan::plugin {
namespace {

namespace fs = std::filesystem;

void check_fit(const Facts& facts) {
  check_abi(facts.abi);
  if (facts.abi.tier == TITAN_TIER_TORCH) check_torch_pin(facts.torch, host_torch_pin());
}

bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

class Discovery {
 public:
  Discovery(const Search& search, LibrarySource& libraries) : search_(search), libraries_(libraries) {}

  Found run() {
    for (const auto& file : search_.files) add_named(file);
    for (const auto& folder : search_.folders) add_folder(folder);
    for (const auto& broken : found_.broken) {
      if (broken.name == search_.module && !has_name(search_.module)) throw broken.error;
    }
    return std::move(found_);
  }

 private:
  void add_named(const fs::path& file) {
    try {
      const FileBytes readable(file);
      add(describe_named(file));
    } catch (const LoadProblem& problem) {
      throw load_error(file.stem().string(), file, problem);
    }
  }

  Plugin describe_named(const fs::path& file) {
    const fs::path manifest = manifest_path(file);
    if (is_there(manifest)) {
      try {
        return describe_by_manifest(manifest, file);
      } catch (const LoadProblem& problem) {
        // What does not fit will say so again when it is opened.
        log_warning("plugin", "manifest ignored, the library is opened instead: ", manifest.string(), ": ",
                    problem.what());
      }
    }
    return {open_and_describe(file, libraries_), file, {}, true};
  }

  Plugin describe_by_manifest(const fs::path& manifest, const fs::path& named) {
    Manifest read = read_manifest(manifest);
    check_fit(read.facts);
    const fs::path library = named.empty() ? manifest.parent_path() / read.library_file : named;
    if (describes(read, library)) return {std::move(read.facts), library, manifest, !named.empty()};
    Facts facts = open_and_describe(library, libraries_);
    log_warning("plugin",
                "the library changed after its manifest was written, and was opened instead: ", library.string());
    return {std::move(facts), library, {}, !named.empty()};
  }

  void add_folder(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      files.push_back(entry->path());
    }
    if (error) return trace(folder, concat("skipped: ", error.message()));
    trace(folder, concat(files.size(), " files"));
    std::sort(files.begin(), files.end());
    for (const auto& file : files) {
      const std::string name = file.filename().string();
      if (name.ends_with(kManifestEnding)) {
        add_manifest(file, name.substr(0, name.size() - kManifestEnding.size()));
      } else if (file.extension() == ".so" && !is_there(manifest_path(file))) {
        trace(file, "skipped: no manifest beside it; --plugin FILE loads it");
      }
    }
  }

  void add_manifest(const fs::path& manifest, const std::string& name) {
    try {
      add(describe_by_manifest(manifest, {}));
    } catch (const LoadProblem& problem) {
      const Error error = load_error(name, manifest, problem);
      trace(manifest, concat("skipped: ", problem.what()));
      if (!is_named(name)) found_.broken.push_back({name, manifest, error});
    }
  }

  void add(Plugin plugin) {
    for (const auto& other : found_.plugins) {
      const bool same_id = other.facts.id == plugin.facts.id;
      if (!same_id && other.facts.name != plugin.facts.name) continue;
      if (same_file(other.library, plugin.library)) return trace(plugin.library, "skipped: found before");
      if (other.named && !plugin.named) return trace(plugin.library, "skipped: --plugin names another");
      throw ConfigError("[plugin] two plugins have the same ", same_id ? "id" : "name", ": ",
                        same_id ? plugin.facts.id : plugin.facts.name, ": ", other.library.string(), " and ",
                        plugin.library.string(), "; remove one, or choose one with --plugin FILE");
    }
    trace(plugin.library, concat("found ", plugin.facts.name, " ", plugin.facts.version));
    found_.plugins.push_back(std::move(plugin));
  }

  bool has_name(const std::string& name) const {
    return std::any_of(found_.plugins.begin(), found_.plugins.end(),
                       [&](const auto& p) { return p.facts.name == name; });
  }

  bool is_named(const std::string& name) const {
    return std::any_of(found_.plugins.begin(), found_.plugins.end(),
                       [&](const auto& p) { return p.named && p.facts.name == name; });
  }

  void trace(const fs::path& path, const std::string& outcome) const {
    if (search_.verbose) log_info("plugin", path.string(), ": ", outcome);
  }

  const Search& search_;
  LibrarySource& libraries_;
  Found found_;
};

}  // namespace

Search default_search() {
  Search search;
  if (const char* list = ::secure_getenv("TITAN_PLUGIN_PATH")) {
    for (const auto& folder : split(list, ':')) {
      if (folder.empty()) continue;
      std::error_code error;
      if (!fs::is_directory(folder, error)) log_warning("plugin", "no such folder in TITAN_PLUGIN_PATH: ", folder);
      search.folders.emplace_back(folder);
    }
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) search.folders.push_back(program.parent_path().parent_path() / "lib/titan/plugins");
  const char* debug = ::secure_getenv("TITAN_PLUGIN_DEBUG");
  search.verbose = debug != nullptr && std::string_view(debug) == "1";
  return search;
}

Found discover(const Search& search, LibrarySource& libraries) { return Discovery(search, libraries).run(); }

}  // namespace titan::plugin
