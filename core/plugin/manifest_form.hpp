#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace titan::plugin {

// What manifest_writer.cpp and manifest_reader.cpp agree on.

inline constexpr std::int64_t kManifestVersion = 1;
inline constexpr std::string_view kStableTier = "stable";
inline constexpr std::string_view kTorchTier = "torch";

/// Names of config::Type in a manifest, in the order of its values.
inline constexpr std::array<std::string_view, 7> kTypeNames = {"bool", "int",     "float", "string",
                                                               "path", "strings", "tables"};

}  // namespace titan::plugin
