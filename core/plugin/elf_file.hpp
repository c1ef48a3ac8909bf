#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/plugin/byte_source.hpp"
#include "titan/abi/plugin.h"

namespace titan::plugin {

/// What a shared library says about itself before it is opened.
struct ElfFile {
  std::optional<titan_plugin_note> note;  // the plugin's ABI note
  std::vector<std::string> needed;        // libraries it links, DT_NEEDED
  std::string soname;
  std::string run_path;                // DT_RUNPATH, else DT_RPATH
  std::vector<std::string> exported;   // defined, visible names
  std::vector<std::string> undefined;  // names it expects from others, weak ones left out
  bool executable_stack = false;
  bool text_relocations = false;
};

/// Reads an ELF shared library without trusting any byte of it. LoadProblem (76): not ELF, another machine, 32-bit, not
/// a shared library, truncated, damaged.
ElfFile read_elf(const ByteSource& bytes);

/// The same for a file. LoadProblem (66) also when there is no such file, or it cannot be read.
ElfFile read_elf_file(const std::filesystem::path& file);

}  // namespace titan::plugin
