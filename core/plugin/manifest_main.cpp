// titan-manifest LIBRARY MANIFEST: describes a plugin and writes its manifest. titan_add_plugin() runs it at build
// time.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/error.hpp"
#include "core/plugin/load_problem.hpp"
#include "core/plugin/loader.hpp"
#include "core/plugin/manifest.hpp"

namespace {

namespace fs = std::filesystem;
using titan::plugin::LoadProblem;

// Not write_file_atomically: a manifest is for everybody who may read the library, not private like a run's output.
void replace_file(const fs::path& path, const std::string& text) {
  fs::path fresh = path;
  fresh += ".new";
  std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) throw titan::CreateError("[plugin] cannot write the manifest: ", fresh.string());
  fs::rename(fresh, path);
}

void describe(const fs::path& library, const fs::path& manifest) {
  try {
    const auto facts = titan::plugin::open_and_describe(library, titan::plugin::system_libraries());
    replace_file(manifest, titan::plugin::write_manifest(facts, library));
  } catch (const LoadProblem& problem) {
    throw titan::plugin::load_error(library.stem().string(), library, problem);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: titan-manifest LIBRARY MANIFEST\n");
    return static_cast<int>(titan::Exit::usage);
  }
  try {
    describe(argv[1], argv[2]);
    return 0;
  } catch (const titan::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "[plugin] %s\n", error.what());
    return static_cast<int>(titan::Exit::internal);
  }
}
