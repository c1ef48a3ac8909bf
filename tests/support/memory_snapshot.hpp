#pragma once

#include <filesystem>
#include <string>

#include "core/pickle/document.hpp"

namespace titan::test {

/// Reads a memory snapshot and fails the test unless it is one that PyTorch's memory_viz can show: the keys and types
/// its readers use, blocks that fill their segment, segments apart from each other, and a trace that can be undone step
/// by step from what lives at the end. The sum of live blocks must be what "titan" says.
pickle::Document checked_snapshot(const std::filesystem::path& path);

}  // namespace titan::test
