#pragma once

#include <filesystem>

#include "core/config/engine.hpp"

namespace titan::app {

/// Where the engine belongs: `../lib/libtitan_engine.so` beside the folder of this program.
std::filesystem::path engine_path();

/// Opens the engine, and with it libtorch, checks that it is of this build, and attaches log and breadcrumbs. It stays
/// open as long as the process. InputError names what is missing and the remedy; AbiError: it is of another build.
const Engine& open_engine(const std::filesystem::path& path);

/// Whether libtorch has been loaded with the engine.
bool is_engine_open();

}  // namespace titan::app
