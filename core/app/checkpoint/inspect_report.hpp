#pragma once

#include <string>

#include "core/app/checkpoint/located.hpp"
#include "core/checkpoint/source.hpp"

namespace titan::app {

/// What `titan checkpoint inspect` says of a checkpoint, for a person; with every tensor if asked for.
std::string inspect_text(const checkpoint::Source& source, bool with_tensors);
/// The same as a JSON object, sizes in bytes.
std::string inspect_json(const checkpoint::Source& source, bool with_tensors);

/// What it says of a folder with steps.
std::string inspect_text(const Located& located);
std::string inspect_json(const Located& located);

/// Bytes of all files that a manifest lists.
std::uint64_t bytes_of_step(const checkpoint::Manifest& manifest);
/// Bytes of the files with a checkpoint's tensors.
std::uint64_t bytes_of_files(const checkpoint::Source& source);

}  // namespace titan::app
