#pragma once

#include <filesystem>

#include "titan/abi/plugin.h"

namespace titan::plugin {

/// Opens plugin files. The seam between loader and system: tests give one that needs no files.
class LibrarySource {
 public:
  virtual ~LibrarySource() = default;
  /// Judges the file without running any of its code, opens it, and returns its entry point. The library stays open as
  /// long as the process. Throws LoadProblem.
  virtual titan_plugin_query_fn open(const std::filesystem::path& file) = 0;
};

/// The real one: the ELF checks, then dlopen with RTLD_NOW | RTLD_LOCAL. Thread-safe.
LibrarySource& system_libraries();

}  // namespace titan::plugin
